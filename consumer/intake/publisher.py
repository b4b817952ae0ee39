"""Outcomes to their topic: every `publish` returns when the record is acked, at least once."""

from __future__ import annotations

import asyncio

import structlog

from consumer.intake.cluster import Cluster, KafkaRefusedError, KafkaUnreachableError
from consumer.intake.kafka import Producer, check_topics

log = structlog.get_logger(__name__)

ACK_DEADLINE = 20.0  # seconds; the client itself waits for ever, also after it broke
CLOSE_DEADLINE = 5.0
BACKOFF = 1.0


class OutcomePublisher:
    """Publishes until acked, with a new producer whenever the old one failed or went silent.

    A record whose ack was lost is published again; readers know outcomes by key and source.
    """

    def __init__(self, cluster: Cluster, topic: str, *, ack_deadline: float = ACK_DEADLINE) -> None:
        self.topic = topic
        self._cluster = cluster
        self._ack_deadline = ack_deadline
        self._producer: Producer | None = None
        self._mending = asyncio.Lock()

    async def open(self) -> None:
        """Raises KafkaUnreachable-, KafkaRefusedError (also: the topic does not exist)."""
        await check_topics(self._cluster, {self.topic})
        self._producer = await self._new()

    async def publish(self, key: bytes | None, value: bytes) -> None:
        """Return when acked. Goes on trying until then: cancel it to give up."""
        while True:
            producer = self._producer
            if producer is not None and await self._acked(producer, key, value):
                return
            await self._mend(producer)

    async def close(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            await producer.close(budget=CLOSE_DEADLINE)

    async def _acked(self, producer: Producer, key: bytes | None, value: bytes) -> bool:
        try:
            async with asyncio.timeout(self._ack_deadline):
                await producer.send(self.topic, key, value)
        except Exception as error:  # noqa: BLE001 - whatever broke it, a new producer is the cure
            log.warning("outcome_not_acked", error=type(error).__name__)
            return False
        return True

    async def _mend(self, broken: Producer | None) -> None:
        """Replace the broken producer; whoever comes second finds it replaced."""
        async with self._mending:
            if self._producer is not broken:
                return
            self._producer = None
            if broken is not None:
                await broken.close(budget=CLOSE_DEADLINE)
            try:
                self._producer = await self._new()
            except (KafkaUnreachableError, KafkaRefusedError) as error:
                log.warning("outcomes_unavailable", error=str(error))
                await asyncio.sleep(BACKOFF)

    async def _new(self) -> Producer:
        producer = Producer(self._cluster)
        await producer.open()
        return producer
