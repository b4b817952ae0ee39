"""Upstream under way: receipts at a steady rate, whatever happens to the rest of the world."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaTimeoutError

from tests.whole.events import receipt
from tests.whole.stack import Stack

TICK = 0.05  # seconds
REPEAT = 25  # every so many records one of an earlier order comes again


@dataclass(slots=True)
class Load:
    """`orders`: what was published at least once. Idempotent: no record is doubled on the way."""

    stem: str
    producer: AIOKafkaProducer
    topic: str
    repeats: bool = True
    make: Callable[[str], bytes] = receipt
    orders: list[str] = field(default_factory=list)
    records: int = 0
    _acks: list[asyncio.Future[object]] = field(default_factory=list)
    _over: asyncio.Event = field(default_factory=asyncio.Event)
    _began: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    async def run(self, rate: float) -> None:
        """Publish; behind after an outage, catch up."""
        due = 0.0
        while not self._over.is_set():
            due += rate * TICK
            while self.records < due:
                await self._publish()
            await asyncio.sleep(TICK)

    async def _publish(self) -> None:
        if self.repeats and self.records % REPEAT == REPEAT - 1:
            order = self.orders[self.records // 2 % len(self.orders)]
        else:
            order = f"{self.stem}-{len(self.orders)}"
            self.orders.append(order)
        self.records += 1
        self._acks.append(await self._sent(self.make(order)))

    async def _sent(self, value: bytes) -> asyncio.Future[object]:
        """Return the future of the ack. A timeout here means that the client took nothing yet."""
        while True:
            try:
                ack: asyncio.Future[object] = await self.producer.send(self.topic, value)
            except KafkaTimeoutError:
                continue
            return ack

    def end(self) -> None:
        self._over.set()

    async def acked(self) -> None:
        await asyncio.gather(*self._acks)


@asynccontextmanager
async def load(
    stack: Stack,
    *,
    rate: float,
    stem: str = "L",
    repeats: bool = True,
    make: Callable[[str], bytes] = receipt,
) -> AsyncIterator[Load]:
    """Publish `rate` receipts a second while the block runs; at its end all are in the log."""
    producer = AIOKafkaProducer(
        bootstrap_servers=stack.kafka.bootstrap, enable_idempotence=True, acks="all"
    )
    await producer.start()
    under_way = Load(stem, producer, stack.orders, repeats, make)
    publishing = asyncio.create_task(under_way.run(rate))
    try:
        yield under_way
        under_way.end()
        await publishing
        await under_way.acked()
    finally:
        publishing.cancel()
        await asyncio.gather(publishing, return_exceptions=True)
        await producer.stop()
