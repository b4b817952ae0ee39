"""What the intake's tests share: topics with records in them, and intakes that write down."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from consumer.intake.cluster import Cluster, Timing
from consumer.intake.hold import Hold
from consumer.intake.kafka import Consumer
from consumer.intake.loop import Handle, Intake
from consumer.intake.positions import Edge, StartFrom
from consumer.model import Record
from tests.parts.kafka import Kafka, start_kafka

QUICK = Timing(session=6.0, heartbeat=0.3, drain=3.0, metadata_age=1.0)
PATIENCE = 20.0  # seconds a test waits for what must come


@dataclass
class Book:
    """A handler that writes down what it finished; `work` is what each record costs."""

    work: Callable[[Record, Hold], Awaitable[None]] | None = None
    began: list[tuple[int, int]] = field(default_factory=list)  # (partition, offset)
    finished: list[tuple[int, int]] = field(default_factory=list)
    values: list[bytes | None] = field(default_factory=list)
    _change: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, record: Record, hold: Hold) -> bool:
        self.began.append((record.partition, record.offset))
        self._tell()
        try:
            if self.work is not None:
                await self.work(record, hold)
        except asyncio.CancelledError:
            if not hold.recalled:
                raise
            return False
        self.finished.append((record.partition, record.offset))
        self.values.append(record.value)
        self._tell()
        return True

    async def until(self, condition: Callable[[], bool], patience: float = PATIENCE) -> None:
        async with asyncio.timeout(patience):
            while not condition():
                self._change.clear()
                await self._change.wait()

    def _tell(self) -> None:
        self._change.set()


@dataclass
class Scene:
    """One topic and one group on the session's broker."""

    kafka: Kafka
    topic: str
    group: str

    async def fill(self, count: int, partitions: int = 1, *, start: int = 0) -> None:
        async with self.kafka.producer() as producer:
            sent = [
                await producer.send(self.topic, b"%d" % number, partition=number % partitions)
                for number in range(start, start + count)
            ]
            await asyncio.gather(*sent)

    def consumer(
        self, *, start_from: StartFrom = Edge.EARLIEST, timing: Timing = QUICK, **more: Any
    ) -> Consumer:
        more = {"topics": [self.topic], **more}
        return Consumer(
            Cluster(self.kafka.bootstrap),
            group_id=self.group,
            start_from=start_from,
            timing=timing,
            **more,
        )

    @asynccontextmanager
    async def running(
        self,
        handle: Handle,
        *,
        consumer: Consumer | None = None,
        budget: float = 5.0,
        **options: Any,
    ) -> AsyncIterator[Intake]:
        """Run an intake inside the block; what it raises comes out of the block."""
        intake = Intake(consumer or self.consumer(), handle, **{"commit_every": 0.1, **options})
        await intake.open()
        running = asyncio.create_task(intake.run())
        try:
            yield intake
        finally:
            await intake.stop(budget)
            await asyncio.wait({running})
        await running

    async def run_to_its_end(self, handle: Handle, **options: Any) -> None:
        """Run an intake until it ends by itself; raises what it ended with."""
        intake = Intake(self.consumer(), handle, **options)
        await intake.open()
        try:
            async with asyncio.timeout(PATIENCE):
                await intake.run()
        finally:
            await intake.stop(2.0)

    async def committed(self) -> dict[int, int]:
        return await self.kafka.committed(self.group, self.topic)

    async def until_committed(self, wanted: dict[int, int]) -> None:
        await self.until(lambda committed: committed == wanted)

    async def until(self, condition: Callable[[dict[int, int]], bool]) -> None:
        """Ask the broker for the committed offsets until they are as wanted."""
        async with asyncio.timeout(PATIENCE):
            while not condition(await self.committed()):  # noqa: ASYNC110 - it does not call us
                await asyncio.sleep(0.1)


@pytest.fixture
async def scene(kafka: Kafka, unique: Callable[[str], str]) -> Callable[[int], Awaitable[Scene]]:
    async def make(partitions: int = 1) -> Scene:
        made = Scene(kafka, unique("orders"), unique("group"))
        await kafka.create_topic(made.topic, partitions)
        return made

    return make


@pytest.fixture(scope="session")
def ours(kafka: Kafka) -> Iterator[Kafka]:
    kafka.must_be_real()
    with start_kafka(own=True) as running:
        yield running


@pytest.fixture
def mortal(ours: Kafka) -> Kafka:
    """Return a broker that may be killed; it stands up again for the next test."""
    ours.start()
    return ours
