"""The sender that was there before: it reads the topic in a way of its own, mails, and logs.

It knows nothing of the guard. Its mails are counted in the same ledger as ours, under the key that
a mail has here: so a mail that both send stands there twice.
"""

from __future__ import annotations

import asyncio
import csv
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

import aiohttp
import orjson
from aiokafka import AIOKafkaConsumer, TopicPartition

from consumer.keys import send_key
from tests.whole.events import receipt
from tests.whole.remote import Remote
from tests.whole.stack import Stack

Log: TypeAlias = Mapping[str, tuple[datetime, str]]  # order -> when it was paid, the mail's id

TYPE = "order.receipt"
TOGETHER = 20  # mails on the wire

_TEMPLATE = receipt("ORDER", "ORDER@example.com").replace(b"{", b'{"time":"TIME",', 1)


def paid(order: str, at: datetime) -> bytes:
    """Return the event of an order that was paid at that moment."""
    return _TEMPLATE.replace(b"ORDER", order.encode()).replace(b"TIME", at.isoformat().encode(), 1)


def key_of(order: str) -> str:
    return send_key(TYPE, order, f"{order}@example.com")


@dataclass(slots=True)
class Former:
    """`leaves`: events from this moment on are not its own. `log`: what it mailed: its own list."""

    stack: Stack
    double: Remote
    leaves: datetime
    log: dict[str, tuple[datetime, str]] = field(default_factory=dict)
    seen: int = 0

    async def run(self, begin: Mapping[int, int]) -> None:
        """Read on from these offsets, by partition."""
        reader = AIOKafkaConsumer(
            bootstrap_servers=self.stack.kafka.bootstrap, enable_auto_commit=False
        )
        async with aiohttp.ClientSession() as session, reader:
            places = {TopicPartition(self.stack.orders, n): offset for n, offset in begin.items()}
            reader.assign(list(places))
            for place, offset in places.items():
                reader.seek(place, offset)
            while True:
                batches = await reader.getmany(timeout_ms=100, max_records=TOGETHER)
                values = [message.value for batch in batches.values() for message in batch]
                await asyncio.gather(*(self._read(session, value) for value in values))
                self.seen += len(values)

    async def _read(self, session: aiohttp.ClientSession, value: bytes) -> None:
        event = orjson.loads(value)
        order, at = event["data"]["order"]["id"], datetime.fromisoformat(event["time"])
        if at >= self.leaves or order in self.log:
            return
        self.log[order] = at, ""  # before the mail: it is asked for the same order at the same time
        self.log[order] = at, await self._mail(session, order)

    async def _mail(self, session: aiohttp.ClientSession, order: str) -> str:
        mail = {
            "From": "receipts@shop.example", "To": f"{order}@example.com", "Subject": "Thank you",
            "TextBody": order, "HtmlBody": order, "MessageStream": "outbound", "TrackOpens": False,
            "TrackLinks": "None", "Metadata": {"sendonce_key": key_of(order)},
        }  # fmt: skip
        headers = {
            "X-Postmark-Server-Token": self.double.options["token"],
            "Accept": "application/json",
        }
        url = f"{self.double.options['base_url']}/email"
        async with session.post(url, json=mail, headers=headers) as answer:
            assert answer.status == 200, await answer.text()
            return str((await answer.json())["MessageID"])


def write_list(file: Path, before: Iterable[tuple[str, datetime]], log: Log) -> Path:
    """Write all that was ever mailed: orders of the days before, and what a log has."""
    rows = [(order, at, f"old-{order}") for order, at in before]
    rows += [(order, at, message_id) for order, (at, message_id) in log.items()]
    with file.open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(("mail_type", "entity", "recipient", "time", "provider_id", "provider"))
        for order, at, message_id in rows:
            table.writerow((TYPE, order, f"{order}@example.com", at, message_id, "old sender"))
    return file


@asynccontextmanager
async def at_work(former: Former) -> AsyncIterator[None]:
    """Let it work while the block runs, on what is published from now on."""
    begin = await former.stack.kafka.end_offsets(former.stack.orders)
    work = asyncio.create_task(former.run(begin))
    try:
        yield
        assert not work.done(), work
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
