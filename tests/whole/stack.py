"""One deployment: a broker, a database, a provider's double, a configuration, and its workers."""

from __future__ import annotations

import asyncio
import shutil
import sys
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any

import asyncpg
import orjson
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from tests.parts.kafka import Kafka
from tests.whole.events import SCHEMAS
from tests.whole.worker import Worker

PARTITIONS = 6
GLANCE = 0.3  # seconds between two looks at the committed offsets; each is a few requests

__all__ = ["Stack", "Worker", "deployed"]


def _further_examples(folder: str, names: list[str]) -> list[str]:
    """Every start of a worker renders each example in each language: two of a mail are enough."""
    kept = ("cloudevent.json", "plain.json")
    return [name for name in names if name not in kept] if folder.endswith("examples") else []


@dataclass
class Stack:
    kafka: Kafka
    dsn: str
    folder: Path
    orders: str
    accounts: str
    outcomes: str
    group: str
    providers: dict[str, Mapping[str, object]]
    settings: dict[str, dict[str, object]] = field(default_factory=dict)
    workers: list[Worker] = field(default_factory=list)

    # ── Configuration

    def write_catalogue(
        self, order: Sequence[str] | None = None, source: Path = SCHEMAS, name: str = "schemas"
    ) -> Path:
        """Copy the shipped catalogue, listening to this deployment's own topics."""
        schemas = self.folder / name
        shutil.copytree(source, schemas, dirs_exist_ok=True, ignore=_further_examples)
        topics = {"order.receipt": self.orders, "password.reset": self.accounts}
        for folder, topic in topics.items():
            file = schemas / folder / "mail.toml"
            lines = [line for line in file.read_text().splitlines() if line]
            lines = [f'topic = "{topic}"' if line.startswith("topic") else line for line in lines]
            if order is not None:
                lines.insert(0, f"providers = {orjson.dumps(list(order)).decode()}")
            file.write_text("\n".join(lines) + "\n")
        return schemas

    def config(self, **sections: Mapping[str, object]) -> Path:
        """Write a configuration; `sections` win over this deployment's own."""
        file = self.folder / f"sendonce-{len(self.workers)}.toml"
        own: dict[str, Mapping[str, object]] = {
            "kafka": {
                "bootstrap_servers": self.kafka.bootstrap,
                "group_id": self.group,
                "start_from": "earliest",
                "drain_timeout": "5s",
                "session_timeout": "10s",
            },
            "postgres": {"dsn": self.dsn},
            "catalogue": {"path": str(self.folder / "schemas")},
            "guard": {"fingerprint_key": "k" * 32},
            "outcomes": {"topic": self.outcomes},
            "safety": {"environment": "test", "allow": ["@example.com"]},
            "admin": {"port": 0},
            "senders.shop": {"from": "Shop <receipts@shop.example>"},
        }
        own |= {f"providers.{name}": options for name, options in self.providers.items()}
        for name, section in {**self.settings, **sections}.items():
            own[name] = {**own.get(name, {}), **section}
        file.write_text("".join(_section(name, section) for name, section in own.items()))
        return file

    def worker(self, **sections: Mapping[str, object]) -> Worker:
        """Make a worker that is not started yet."""
        config = self.config(**sections)
        command = [sys.executable, "-m", "consumer", "run", "--config", str(config)]
        worker = Worker(command, self.folder / f"worker-{len(self.workers)}.log")
        self.workers.append(worker)
        return worker

    # ── What goes in

    async def publish(self, topic: str, values: Iterable[bytes | None], **options: Any) -> None:
        async with self._producer() as producer:
            for value in values:
                await producer.send(topic, value, **options)

    @asynccontextmanager
    async def _producer(self) -> AsyncIterator[AIOKafkaProducer]:
        producer = AIOKafkaProducer(
            bootstrap_servers=self.kafka.bootstrap,
            linger_ms=5,
            acks="all",
            max_request_size=1 << 24,
        )
        await producer.start()
        try:
            yield producer
        finally:
            await producer.stop()

    # ── What came of it

    async def finished(self, *topics: str, seconds: float = 120) -> None:
        """Wait until what is in the topics now is committed."""
        ends = await self._ends(topics)
        until = time.monotonic() + seconds
        async with self._group() as group:
            while behind := await _behind(group, ends):
                assert time.monotonic() < until, f"{behind} records are not committed"
                await asyncio.sleep(GLANCE)

    async def rewind(self, *topics: str) -> None:
        """Have the group, which has no member now, begin again at the first record."""
        ends = await self._ends(topics)
        async with self._group() as group:
            group.assign(list(ends))
            await group.commit(dict.fromkeys(ends, 0))

    async def behind(self, *topics: str) -> int:
        """Count the records that are not committed."""
        ends = await self._ends(topics)
        async with self._group() as group:
            return await _behind(group, ends)

    async def _ends(self, topics: Sequence[str]) -> dict[TopicPartition, int]:
        found = {topic: await self.kafka.end_offsets(topic) for topic in topics}
        return {TopicPartition(t, n): end for t, ends in found.items() for n, end in ends.items()}

    def _group(self) -> AbstractAsyncContextManager[AIOKafkaConsumer]:
        """Ask for the group's offsets; that makes nobody a member."""
        return self.kafka.consumer(group_id=self.group, enable_auto_commit=False)

    async def sql(self, query: str, *args: object) -> list[Any]:
        connection = await asyncpg.connect(self.dsn)
        try:
            return list(await connection.fetch(query, *args))
        finally:
            await connection.close()

    async def statuses(self) -> dict[str, int]:
        """Count the guard's rows by status."""
        rows = await self.sql("SELECT status, count(*) AS n FROM sent_message GROUP BY status")
        return {row["status"]: row["n"] for row in rows}

    async def letters(self) -> dict[str, int]:
        """Count the dead letters by reason."""
        rows = await self.sql("SELECT reason, count(*) AS n FROM dead_letter GROUP BY reason")
        return {row["reason"]: row["n"] for row in rows}

    async def told(self) -> list[dict[str, Any]]:
        """Return every outcome record that was published so far."""
        reader = AIOKafkaConsumer(bootstrap_servers=self.kafka.bootstrap, enable_auto_commit=False)
        await reader.start()
        try:
            ends = await self.kafka.end_offsets(self.outcomes)
            places = {TopicPartition(self.outcomes, n): end for n, end in ends.items()}
            reader.assign(list(places))
            await reader.seek_to_beginning()
            found: list[dict[str, Any]] = []
            while len(found) < sum(places.values()):
                batches = await reader.getmany(timeout_ms=500)
                found += [orjson.loads(m.value) for batch in batches.values() for m in batch]
            return found
        finally:
            await reader.stop()

    async def close(self) -> None:
        for worker in self.workers:
            await worker.kill()


@asynccontextmanager
async def deployed(
    kafka: Kafka, dsn: str, folder: Path, providers: Mapping[str, Mapping[str, object]]
) -> AsyncIterator[Stack]:
    """Yield a deployment with topics and a group of its own; its workers end with the block."""
    kafka.must_be_real()
    orders, accounts, outcomes, group = (
        f"{name}.{token_hex(4)}" for name in ("orders", "accounts", "outcomes", "group")
    )
    stack = Stack(kafka, dsn, folder, orders, accounts, outcomes, group, dict(providers))
    for topic in (stack.orders, stack.accounts, stack.outcomes):
        await kafka.create_topic(topic, PARTITIONS)
    stack.write_catalogue()
    try:
        yield stack
    finally:
        await stack.close()


async def _behind(group: AIOKafkaConsumer, ends: Mapping[TopicPartition, int]) -> int:
    done = {place: await group.committed(place) or 0 for place in ends}
    return sum(end - done[place] for place, end in ends.items())


def _section(name: str, values: Mapping[str, object]) -> str:
    lines = [f"{key} = {orjson.dumps(value).decode()}\n" for key, value in values.items()]
    return f"[{name}]\n{''.join(lines)}\n"
