"""Dead letters of every kind in a real guard, and one worker's resolver in this process.

No Kafka: records are made up. Mails become files, which are the ledger.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson

from consumer import parts, settings
from consumer.aside import Aside
from consumer.endings import Ended
from consumer.flight import Pilot
from consumer.flights import Flights
from consumer.guard import Guard
from consumer.guard.desk import Desk
from consumer.guard.privacy import UNSEALED
from consumer.inquiry import Inquiry
from consumer.line import Line
from consumer.making import Making
from consumer.model import Claim, Granted, Lease, Mail, Record, Row
from consumer.resolver import Resolver
from consumer.takeoff import Takeoff
from consumer.telemetry import Metrics
from consumer.telemetry.tracing import tracing
from tests.unit.cli.conftest import write_catalogue

HOUSE = """
[kafka]
bootstrap_servers = "127.0.0.1:1"
start_from = "earliest"
[postgres]
dsn = "{dsn}"
[catalogue]
path = "{folder}/schemas"
[safety]
environment = "test"
allow = ["@example.org"]
[senders.shop]
from = "Shop <receipts@shop.example>"
[providers.file]
path = "{folder}/mails"
concurrency = 50
"""
OFFSETS = itertools.count(1)
GLANCE = 0.1  # seconds between two looks at what is due


@dataclass
class Office:
    """One worker's parts around a real guard. `config`: for the commands of a person beside it."""

    config: Path
    mails: Path
    guard: Guard
    desk: Desk
    line: Line
    resolvers: Callable[[], Resolver]  # one that was stopped takes nothing more
    published: list[Ended] = field(default_factory=list)
    _token: itertools.count[int] = field(default_factory=itertools.count)

    @property
    def making(self) -> Making:
        return self.line.making

    def sent(self) -> set[str]:
        """Return the keys of all mails that were accepted."""
        return {file.stem for file in self.mails.glob("*.eml")}

    def mail(self, record: Record) -> Mail:
        mail = self.making.read(record)
        assert isinstance(mail, Mail), mail
        return mail

    async def row(self, key: str) -> Row:
        return (await self.desk.rows([key]))[key]

    async def claim(self, record: Record, *, account: str = "", key: str = "") -> Lease:
        """Claim a record's mail as another worker would, which then vanishes."""
        mail = self.mail(record)
        mail = replace(mail, key=key) if key else mail
        token = f"elsewhere-{next(self._token)}"
        claim = Claim(mail, record, token, "file", account or f"file:{self.mails}", bytes(32))
        granted = await self.guard.claim(claim)
        assert isinstance(granted, Granted), granted
        return granted.lease

    async def settle(self, seconds: float = 60) -> None:
        """Run the resolver until nothing that was made due is left to it."""
        until, resolver = time.monotonic() + seconds, self.resolvers()
        running = asyncio.ensure_future(resolver.run())
        try:
            while await self._is_due():
                assert time.monotonic() < until, "letters are still due"
                await asyncio.sleep(GLANCE)
        finally:
            resolver.stop()
            await running

    async def _is_due(self) -> bool:
        rows = await self.desk._lane.run(
            lambda c: c.fetch(
                "SELECT 1 FROM dead_letter WHERE status = 'parked'"
                " AND next_check_at < now() + interval '90 seconds' LIMIT 1"
            )
        )
        return bool(rows)


@asynccontextmanager
async def office(dsn: str, folder: Path) -> AsyncIterator[Office]:
    write_catalogue(folder)
    config = folder / "sendonce.toml"
    config.write_text(HOUSE.format(dsn=dsn, folder=folder))
    found = settings.load(config, {})
    metrics = Metrics()
    async with AsyncExitStack() as stack:
        guard = await parts.open_guard(lambda: found, parts.owner(), metrics, UNSEALED)
        stack.push_async_callback(guard.close)
        desk = await Desk.open(dsn, environment="test")
        stack.push_async_callback(desk.close)
        routes = parts.routes(found, metrics, pushing=())
        for route in routes.by_name.values():
            await route.provider.open()
            stack.push_async_callback(route.provider.close)
        pilot = Pilot(guard, routes, parts.rules(found), parts.retry(found), metrics)
        takeoff = Takeoff(pilot, Aside(guard), Flights("here"))
        line = Line(
            parts.reading(lambda: found, parts.open_catalogue(found)), guard, takeoff, tracing()
        )
        published: list[Ended] = []

        async def publish(ended: Ended) -> None:
            published.append(ended)

        def resolver() -> Resolver:
            return Resolver(guard, line, Inquiry(line, guard, takeoff), publish, metrics)

        yield Office(config, folder / "mails", guard, desk, line, resolver, published)


def record(order: str, to: str = "", *, age: timedelta = timedelta(), value: bytes = b"") -> Record:
    """One order's event; `value`: what came instead of it."""
    event = {"type": "order.receipt", "order": {"id": order}, "email": to or "ada@example.org"}
    at = datetime.now(UTC) - age
    millis = int(at.timestamp() * 1000)
    return Record("orders", 0, next(OFFSETS), millis, None, value or orjson.dumps(event))


def again(of: Record, headers: tuple[tuple[str, bytes | None], ...] = ()) -> Record:
    """The same event in another record."""
    return replace(of, offset=next(OFFSETS), headers=headers)
