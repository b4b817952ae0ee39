"""The service itself, from Kafka to a double, in this process: what is measured.

The records lie in their topic before the service starts. The clock starts when the outcomes of the
first WARM_UP stand in the guard (joining a group, first connections and plans are not what is
measured) and stops `count` outcomes later, while the last TAIL records are still under way: with as
many in hand at its end as at its beginning, exactly `count` mails' work lies between.
"""

from __future__ import annotations

import asyncio
import math
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from aiokafka import TopicPartition

from consumer import guard, settings
from consumer.demo.files import declare, toml
from consumer.service import Service
from tests.bench import mails
from tests.bench.loops import WARM_UP
from tests.bench.measure import Cost, costing
from tests.parts.kafka import Kafka
from tests.parts.postgres import Postgres

ENVIRONMENT = "production"  # no allow-list: as in earnest
PARTITIONS = 4
TAIL = 800  # mails behind the last that counts: twice what the service has in hand
PATIENCE = 120.0  # seconds
GLANCE = 0.02  # seconds between two looks at a counter; the clock is read with it


@dataclass(frozen=True, slots=True)
class Bench:
    """The parts that all repetitions share."""

    kafka: Kafka
    postgres: Postgres
    double: str  # base URL
    concurrency: int


@dataclass(frozen=True, slots=True)
class Place:
    """One repetition's own topic, database and configuration."""

    topic: str
    dsn: str
    config: Path


@dataclass(slots=True)
class Guarded:
    cost: Cost
    statements: float = 0.0  # SQL round trips per mail
    wal_bytes: float = 0.0  # per mail


@asynccontextmanager
async def place(bench: Bench) -> AsyncIterator[Place]:
    topic = f"orders.{token_hex(4)}"
    await bench.kafka.create_topic(topic, PARTITIONS)
    await _join_once(bench.kafka, topic)
    dsn = await bench.postgres.database(_migrated)
    with tempfile.TemporaryDirectory(prefix="sendonce-bench-") as made:
        config = Path(made) / "sendonce.toml"
        config.write_text(_configuration(bench, topic, dsn, _catalogue(Path(made), topic)))
        yield Place(topic, dsn, config)
    await bench.postgres.drop(dsn)


async def _join_once(kafka: Kafka, topic: str) -> None:
    """Commit offset 0: a group without offsets is made sure of at length, once in its life."""
    partitions = [TopicPartition(topic, number) for number in range(PARTITIONS)]
    async with kafka.consumer(group_id=topic, enable_auto_commit=False) as consumer:
        consumer.assign(partitions)
        await consumer.commit(dict.fromkeys(partitions, 0))


async def _migrated(dsn: str) -> None:
    await guard.migrate(dsn, environment=ENVIRONMENT)


def _catalogue(directory: Path, topic: str) -> Path:
    copy = directory / "schemas"
    for name in ("_layouts", "order.receipt"):
        shutil.copytree(mails.SCHEMAS / name, copy / name)
    declare(copy / "order.receipt" / "mail.toml", topic=topic, providers=[mails.PROVIDER])
    return copy


def _configuration(bench: Bench, topic: str, dsn: str, catalogue: Path) -> str:
    return toml(
        {
            "kafka": {
                "bootstrap_servers": bench.kafka.bootstrap,
                "group_id": topic,
                "start_from": "earliest",
                "max_in_flight": bench.concurrency + 64,  # as many as there are permits
            },
            "postgres": {"dsn": dsn},
            "catalogue": {"path": str(catalogue)},
            "senders.shop": {"from": mails.SENDER},
            "safety": {"environment": ENVIRONMENT},
            "admin": {"port": 0},
            f"providers.{mails.PROVIDER}": {
                "token": "benchmark",
                "base_url": bench.double,
                "concurrency": bench.concurrency,
            },
        }
    )


async def publish(kafka: Kafka, topic: str, count: int) -> None:
    async with kafka.producer(linger_ms=5) as producer:
        for number, (key, value) in enumerate(mails.values(0, count)):
            await producer.send(topic, value, key=key, partition=number % PARTITIONS)


async def guarded(bench: Bench, count: int, at_start: Callable[[], None] = lambda: None) -> Guarded:
    """Run the service over WARM_UP + `count` + TAIL records; `at_start`: when the clock starts."""
    everything = WARM_UP + count + TAIL
    async with place(bench) as here:
        await publish(bench.kafka, here.topic, everything)
        before = await _wal(bench, here)
        service = Service(settings.follow(here.config))
        serving = asyncio.create_task(service.serve())
        numbers = Numbers(service)
        try:
            await _until(lambda: numbers.ended >= WARM_UP, serving)
            at_start()
            begun = numbers.ended
            with costing(count) as cost:
                await _until(lambda: numbers.ended >= begun + count, serving)
                cost.mails = int(numbers.ended - begun)  # outcomes come in batches
            await _until(lambda: numbers.ended >= everything, serving)
            statements = numbers.statements / everything
            wal = (await _wal(bench, here) - before) / everything
        finally:
            service._stop.set()
            await serving
            _take_signals_back()
    return Guarded(cost, statements, wal)


def _take_signals_back() -> None:
    """The service, which is a process of its own elsewhere, has them lead to its stop."""
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().remove_signal_handler(number)
        signal.signal(number, signal.default_int_handler)


class Numbers:
    """The service's own counters, read where they stand: a scrape would cost what is measured."""

    def __init__(self, service: Service) -> None:
        self._service = service

    @property
    def ended(self) -> float:
        return math.fsum(child.value for child in self._service._metrics._records.values())

    @property
    def statements(self) -> float:
        rows = self._service._metrics._batch_rows.values()
        return math.fsum(child.buckets()[-1][1] for child in rows)


async def _until(true: Callable[[], bool], serving: asyncio.Task[int]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not true():
            assert not serving.done(), "the service ended by itself"
            await asyncio.sleep(GLANCE)


async def _wal(bench: Bench, here: Place) -> int:
    sql = "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS bytes"
    (row,) = await bench.postgres.execute(here.dsn, sql)
    return int(row["bytes"])
