"""One record read back by its coordinates: outside the group, for what only its row still knows."""

from __future__ import annotations

from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition

from consumer.intake.cluster import (
    Cluster,
    KafkaRefusedError,
    KafkaUnreachableError,
    TopicsMissingError,
)
from consumer.intake.kafka.access import check_topics, client_options, translated
from consumer.intake.kafka.client import to_record
from consumer.intake.kafka.closing import dismissed
from consumer.intake.kafka.names import tolerate_names
from consumer.model import Coordinates, Record

PATIENCE = 5.0  # seconds for one record; what is there comes at once


class RecordGoneError(Exception):
    """Retention took it, its topic was made anew, or compaction did away with it."""


class Reader:
    """Reads single records. Connects with the first one; not for two callers at a time."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._consumer: Any = None

    async def read(self, at: Coordinates) -> Record:
        """Return the record. Raises RecordGoneError, KafkaUnreachableError, KafkaRefusedError.

        Gone is what the cluster says is gone: of a row whose record is gone no mail is made.
        """
        await self._see_partition(at)
        try:
            async with translated(self._cluster):
                return await self._read(at)
        except (KafkaUnreachableError, KafkaRefusedError):
            await self.close()  # the next read connects anew, with the password as it is by then
            raise

    async def _see_partition(self, at: Coordinates) -> None:
        """Ask first: the client waits without end for a partition that does not exist."""
        try:
            count = (await check_topics(self._cluster, [at.topic]))[at.topic]
        except TopicsMissingError as missing:
            raise RecordGoneError(f"topic {at.topic} does not exist") from missing
        if count == 0:
            raise KafkaUnreachableError(f"topic {at.topic} has no leader to ask")
        if at.partition >= count:
            raise RecordGoneError(f"topic {at.topic} has {count} partitions")

    async def _read(self, at: Coordinates) -> Record:
        consumer = await self._opened()
        place = TopicPartition(at.topic, at.partition)
        consumer.assign([place])
        first = (await consumer.beginning_offsets([place]))[place]
        end = (await consumer.end_offsets([place]))[place]
        if not first <= at.offset < end:
            raise RecordGoneError(f"the log holds offsets {first} to {end}")
        consumer.seek(place, at.offset)
        return await self._found(consumer, place, at)

    async def _found(self, consumer: Any, place: TopicPartition, at: Coordinates) -> Record:
        batches = await consumer.getmany(place, timeout_ms=int(PATIENCE * 1000), max_records=1)
        if not batches.get(place):  # the client keeps a broker's silence to itself
            raise KafkaUnreachableError(f"nothing was read within {PATIENCE:g} s")
        for message in batches[place]:
            record = to_record(message)
            if record.coordinates == at:
                return record
        raise RecordGoneError("another record is at its offset, or none")

    async def _opened(self) -> Any:
        if self._consumer is None:
            tolerate_names()
            self._consumer = AIOKafkaConsumer(
                **client_options(self._cluster),
                enable_auto_commit=False,
                auto_offset_reset="none",
                isolation_level="read_committed",
            )
            await self._consumer.start()
        return self._consumer

    async def close(self) -> None:
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            await dismissed(consumer)
