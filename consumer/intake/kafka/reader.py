"""One record read back by its coordinates: outside the group, for what only its row still knows."""

from __future__ import annotations

import asyncio
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition

from consumer.intake.cluster import Cluster, KafkaRefusedError
from consumer.intake.kafka.access import check_topics, client_options, translated
from consumer.intake.kafka.client import to_record
from consumer.intake.kafka.closing import ended
from consumer.intake.kafka.names import tolerate_names
from consumer.model import Coordinates, Record

PATIENCE = 5.0  # seconds for one record; what is there comes at once
CLOSE = 2.0


class RecordGoneError(Exception):
    """Retention took it, its topic was made anew, or compaction did away with it."""


class Reader:
    """Reads single records. Connects with the first one; not for two callers at a time."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._consumer: Any = None

    async def read(self, at: Coordinates) -> Record:
        """Return the record. Raises RecordGoneError, KafkaUnreachableError."""
        await self._see_partition(at)
        async with translated(self._cluster):
            consumer = await self._opened()
            place = TopicPartition(at.topic, at.partition)
            consumer.assign([place])
            first = (await consumer.beginning_offsets([place]))[place]
            end = (await consumer.end_offsets([place]))[place]
            if not first <= at.offset < end:
                raise RecordGoneError(f"the log holds offsets {first} to {end}")
            consumer.seek(place, at.offset)
            return await self._found(consumer, place, at)

    async def _see_partition(self, at: Coordinates) -> None:
        """Ask first: the client waits without end for a partition that does not exist."""
        try:
            counts = await check_topics(self._cluster, [at.topic])
        except KafkaRefusedError as refusal:
            raise RecordGoneError(str(refusal)) from refusal
        if at.partition >= counts[at.topic]:
            raise RecordGoneError(f"topic {at.topic} has {counts[at.topic]} partitions")

    async def _found(self, consumer: Any, place: TopicPartition, at: Coordinates) -> Record:
        batches = await consumer.getmany(place, timeout_ms=int(PATIENCE * 1000), max_records=1)
        for message in batches.get(place, ()):
            record = to_record(message)
            if record.coordinates == at:
                return record
        raise RecordGoneError("another record is at its offset, or none")

    async def _opened(self) -> Any:
        if self._consumer is None:
            tolerate_names()
            consumer = AIOKafkaConsumer(
                **client_options(self._cluster),
                enable_auto_commit=False,
                auto_offset_reset="none",
                isolation_level="read_committed",
            )
            await consumer.start()
            self._consumer = consumer
        return self._consumer

    async def close(self) -> None:
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            await ended(asyncio.create_task(consumer.stop()), CLOSE, consumer._client)  # noqa: SLF001 - no public way
