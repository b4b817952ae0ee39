"""Who publishes: so many events of every kind, at a steady rate, some of them twice."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaTimeoutError

from tests.chaos.kinds import KINDS, RECEIPT, Kind
from tests.parts.kafka import Kafka

TICK = 0.05  # seconds
REPEAT = 25  # every so many events an earlier one comes again, in a record of its own


@dataclass(slots=True)
class Upstream:
    """`records` are in the log, or on their way; `mails`: the different ones among them."""

    producer: AIOKafkaProducer
    topics: dict[str, str]  # by the shipped type
    random: random.Random
    records: int = 0
    mails: list[tuple[Kind, str]] = field(default_factory=list)
    _acks: list[asyncio.Future[object]] = field(default_factory=list)

    async def run(self, events: int, seconds: float) -> None:
        """Publish; late after an outage, catch up."""
        due = 0.0
        while self.records < events:
            due = min(events, due + events / seconds * TICK)
            while self.records < int(due):
                await self._publish()
            await asyncio.sleep(TICK)
        await asyncio.gather(*self._acks)

    async def _publish(self) -> None:
        kind, entity = self._next()
        self.records += 1
        topic = self.topics[kind.like]
        while True:
            try:
                ack = await self.producer.send(topic, kind.event(entity))
            except KafkaTimeoutError:
                continue  # nothing was taken yet
            self._acks.append(ack)
            return

    def _next(self) -> tuple[Kind, str]:
        receipts = [mail for mail in self.mails[-200:] if mail[0].like == RECEIPT]
        if self.records % REPEAT == REPEAT - 1 and receipts:
            return self.random.choice(receipts)  # a reset's event tells its time: never the same
        mail = KINDS[len(self.mails) % len(KINDS)], f"E-{len(self.mails)}"
        self.mails.append(mail)
        return mail


@asynccontextmanager
async def upstream(kafka: Kafka, topics: dict[str, str], seed: int) -> AsyncIterator[Upstream]:
    """Idempotent: no record is doubled on the way, whatever becomes of the broker."""
    async with kafka.producer(
        enable_idempotence=True, acks="all", linger_ms=5, request_timeout_ms=120_000
    ) as producer:
        yield Upstream(producer, topics, random.Random(seed))
