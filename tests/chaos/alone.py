"""One deployment with one provider and quick leases: what single deaths are measured in."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Self, TypeAlias

from consumer import guard
from tests.doubles import APIS
from tests.doubles.engine import Double
from tests.parts.kafka import Kafka, start_kafka
from tests.parts.postgres import Postgres, start_postgres
from tests.whole.stack import Stack, deployed
from tests.whole.worker import Worker

LEASE: Final = 4.0  # seconds
SESSION: Final = 3.0
SHORT: Final[Mapping[str, dict[str, object]]] = {
    "kafka": {"session_timeout": f"{SESSION}s"},
    "guard": {"lease": f"{LEASE}s"},
    "providers.postmark": {"timeout": "1500ms", "connect_timeout": "1s"},
}
GLANCE: Final = 0.05  # seconds: what a measured time may be too long by

Parts: TypeAlias = tuple[Kafka, Postgres]


@asynccontextmanager
async def parts() -> AsyncIterator[Parts]:
    """Yield a broker and a server of this process's own."""
    async with AsyncExitStack() as stack:
        kafka = stack.enter_context(start_kafka())
        postgres = stack.enter_context(start_postgres(fsync=False))
        yield kafka, postgres


@asynccontextmanager
async def alone(
    given: Parts, folder: Path, **settings: Mapping[str, object]
) -> AsyncIterator[tuple[Stack, Double]]:
    """Yield a deployment and its only provider, a Postmark; `settings` are sections."""
    kafka, postgres = given
    dsn = await postgres.database()
    await guard.migrate(dsn, environment="test")
    async with (
        Double(APIS["postmark"]()) as double,
        deployed(kafka, dsn, folder, {"postmark": double.options}) as stack,
    ):
        for name, section in {**SHORT, **settings}.items():
            stack.settings[name] = {**SHORT.get(name, {}), **section}
        yield stack, double


@dataclass
class Member:
    """A worker, and the name under which it owns rows: another one at each start."""

    stack: Stack
    worker: Worker
    owner: str = ""

    async def start(self) -> Self:
        """Start it, with a log of its own; return when it is ready."""
        known = await _owners(self.stack)
        self.worker = self.stack.worker()
        await self.worker.start().ready(60)
        await reached(lambda: self._is_named(known), 10)
        return self

    async def _is_named(self, known: set[str]) -> bool:
        self.owner = next(iter(await _owners(self.stack) - known), "")
        return self.owner != ""


async def _owners(stack: Stack) -> set[str]:
    return {row["owner"] for row in await stack.sql("SELECT owner FROM worker")}


async def members(stack: Stack, count: int) -> list[Member]:
    """Start workers, one after the other, until each has its share of the partitions."""
    found = [await Member(stack, stack.worker()).start() for _ in range(count)]
    await shared(found)
    return found


async def shared(found: Sequence[Member]) -> None:
    """Wait until each of them has partitions of its own."""
    for member in found:
        await member.worker.until(partial(_has_some, member.worker), 60)


async def _has_some(worker: Worker) -> bool:
    _, text = await worker.get("/metrics")
    lines = [line for line in text.splitlines() if line.startswith("sendonce_lag_records{")]
    return 0 < len(lines) < 12  # both topics' six partitions: then it has them all


async def reached(condition: Callable[[], Awaitable[Any]], seconds: float) -> float:
    """Wait for what is to be seen from outside; return how long it took."""
    began = time.monotonic()
    while not await condition():
        assert time.monotonic() - began < seconds, f"not within {seconds} s"
        await asyncio.sleep(GLANCE)
    return time.monotonic() - began
