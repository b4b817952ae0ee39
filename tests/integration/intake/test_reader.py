"""A record is read back by its coordinates, and never another in its place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition

from consumer.intake.cluster import Cluster
from consumer.intake.kafka import Reader, RecordGoneError
from consumer.intake.kafka.client import to_record
from consumer.model import Record
from tests.integration.intake.conftest import Scene

Make = Callable[[int], Awaitable[Scene]]


async def test_records_are_read_back_byte_for_byte_and_others_are_gone(scene: Make) -> None:
    where = await scene(2)
    await where.fill(10, partitions=2)
    records = await _all(where.kafka.bootstrap, where.topic)
    reader = Reader(Cluster(where.kafka.bootstrap))
    try:
        for record in (records[3], records[8], records[0]):
            assert await reader.read(record.coordinates) == record
        at = records[0].coordinates
        for gone in (
            replace(at, offset=99),
            replace(at, timestamp=at.timestamp + 1),
            replace(at, partition=7),
            replace(at, topic=at.topic + "-other"),
        ):
            with pytest.raises(RecordGoneError):
                await reader.read(gone)
        assert await reader.read(at) == records[0]
    finally:
        await reader.close()


async def _all(bootstrap: str, topic: str) -> list[Record]:
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, enable_auto_commit=False)
    await consumer.start()
    try:
        consumer.assign([TopicPartition(topic, 0), TopicPartition(topic, 1)])
        await consumer.seek_to_beginning()
        found: list[Record] = []
        while len(found) < 10:
            batches = await consumer.getmany(timeout_ms=500)
            found += [to_record(message) for batch in batches.values() for message in batch]
        return found
    finally:
        await consumer.stop()
