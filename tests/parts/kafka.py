"""How a real Kafka comes to the tests, and how it is broken on purpose.

In this order: the broker that `SENDONCE_TEST_KAFKA` names, Apache Kafka itself where Java and
Maven are (its jars are brought once, into tests/kafka/libs), else librdkafka's mock cluster, good
for one member of a group only: `kafka.real` is False, and `kafka.must_be_real()` skips by name.

    with start_kafka() as kafka:
        await kafka.create_topic("orders", 3)
    with start_kafka(own=True) as kafka:
        kafka.kill(); kafka.start()             # kill -9, and back on the same port and data
        start_kafka(sasl=True)                  # listens also at kafka.sasl_ssl, .sasl_plaintext
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic

from tests.parts.kafka_server import NoKafkaError, Server, Users, prepare_server

__all__ = ["Kafka", "NoKafkaError", "Users", "start_kafka"]

EXTERNAL = "SENDONCE_TEST_KAFKA"


@dataclass
class Kafka:
    """A reachable cluster. `owned`: started here, so it may be stopped, killed and restarted."""

    bootstrap: str
    real: bool = True  # False: the mock; no second group member, no restart, no topic settings
    why_not_real: str = ""
    server: Server | None = None
    users: Users | None = None
    _keep: list[Any] = field(default_factory=list)  # what the mock lives in

    @property
    def owned(self) -> bool:
        return self.server is not None

    @property
    def sasl_ssl(self) -> str:
        return self._server.address("SASL_SSL")

    @property
    def sasl_plaintext(self) -> str:
        return self._server.address("SASL_PLAINTEXT")

    def must_be_real(self) -> None:
        """Skip the calling test, loudly, where only the mock is to be had."""
        if not self.real:
            import pytest  # noqa: PLC0415 - whoever starts a broker by hand has none

            pytest.skip(f"needs Apache Kafka, and there is only a mock: {self.why_not_real}")

    def start(self) -> None:
        self._server.start()

    def stop(self) -> None:
        self._server.stop()

    def kill(self) -> None:
        """Kill -9, as a lost machine would; `start` brings it back on the same port and data."""
        self._server.kill()

    def restart(self) -> None:
        self.stop()
        self.start()

    async def create_topic(
        self, name: str, partitions: int = 1, config: Mapping[str, str] | None = None
    ) -> None:
        if not self.real:  # it makes topics by itself, of four partitions, when first asked
            async with self.producer() as producer:
                await producer.partitions_for(name)
            return
        async with self._admin() as admin:
            topic = NewTopic(name, partitions, 1, topic_configs=dict(config or {}))
            answer = await admin.create_topics([topic])
        _check(answer.topic_errors)

    async def add_partitions(self, name: str, total: int) -> None:
        async with self._admin() as admin:
            await admin.create_partitions({name: NewPartitions(total)})

    async def delete_records(self, topic: str, partition: int, before: int) -> None:
        """Do what retention does: the log then begins at `before`."""
        from aiokafka.admin import RecordsToDelete  # noqa: PLC0415 - one caller

        async with self._admin() as admin:
            await admin.delete_records(
                {TopicPartition(topic, partition): RecordsToDelete(before_offset=before)}
            )

    async def end_offsets(self, topic: str) -> dict[int, int]:
        """Return partition -> the offset its next record will have."""
        async with self.consumer() as consumer:
            found = await consumer.end_offsets(await _partitions(consumer, topic))
        return {tp.partition: offset for tp, offset in found.items()}

    async def committed(self, group: str, topic: str) -> dict[int, int]:
        """Return partition -> committed offset, without the partitions that have none."""
        async with self.consumer(group_id=group, enable_auto_commit=False) as consumer:
            partitions = await _partitions(consumer, topic)
            found = {tp.partition: await consumer.committed(tp) for tp in partitions}
        return {partition: offset for partition, offset in found.items() if offset is not None}

    @asynccontextmanager
    async def producer(self, **options: Any) -> AsyncIterator[AIOKafkaProducer]:
        producer = AIOKafkaProducer(bootstrap_servers=self.bootstrap, **options)
        await producer.start()
        try:
            yield producer
        finally:
            await producer.stop()

    @asynccontextmanager
    async def consumer(self, **options: Any) -> AsyncIterator[AIOKafkaConsumer]:
        consumer = AIOKafkaConsumer(bootstrap_servers=self.bootstrap, **options)
        await consumer.start()
        try:
            yield consumer
        finally:
            await consumer.stop()

    @asynccontextmanager
    async def _admin(self) -> AsyncIterator[AIOKafkaAdminClient]:
        self.must_be_real()
        admin = AIOKafkaAdminClient(bootstrap_servers=self.bootstrap)
        await admin.start()
        try:
            yield admin
        finally:
            await admin.close()

    @property
    def _server(self) -> Server:
        if self.server is None:
            raise NoKafkaError("this cluster was not started here: not ours to stop")
        return self.server


@contextmanager
def start_kafka(
    *,
    own: bool = False,
    sasl: bool = False,
    config: Mapping[str, str] | None = None,
    relays: Mapping[int, int] | None = None,
) -> Iterator[Kafka]:
    """Yield a cluster; what only one of our own can give (`own`: to be killed) makes it ours.

    `config` is for the broker's server.properties. `relays`: more ports that it listens at -> the
    port of a proxy before each, which its clients are told to come to. Raises NoKafkaError.
    """
    external, ours = os.environ.get(EXTERNAL), own or sasl or bool(config) or bool(relays)
    if external and not ours:
        yield Kafka(external)
        return
    try:
        server = prepare_server(sasl=sasl, config=config or {}, relays=relays)
    except NoKafkaError as reason:
        if ours:
            raise
        yield _mock(str(reason))
        return
    try:
        server.start()
        yield Kafka(server.address("PLAINTEXT"), server=server, users=server.users)
    finally:
        server.kill()
        server.remove()


def _mock(reason: str) -> Kafka:
    if importlib.util.find_spec("confluent_kafka") is None:
        raise NoKafkaError(f"{reason}; nor is confluent-kafka installed, which brings a mock")
    from confluent_kafka import Producer  # noqa: PLC0415 - only where it is wanted

    cluster = Producer({"bootstrap.servers": "mock", "test.mock.num.brokers": 1})
    brokers = cluster.list_topics(timeout=10).brokers.values()
    addresses = ",".join(f"{broker.host}:{broker.port}" for broker in brokers)
    return Kafka(addresses, real=False, why_not_real=reason, _keep=[cluster])


async def _partitions(consumer: AIOKafkaConsumer, topic: str) -> list[TopicPartition]:
    # The client asks for a topic only once it is told that somebody wants it.
    await consumer._client._wait_on_metadata(topic)
    return [TopicPartition(topic, number) for number in consumer.partitions_for_topic(topic) or ()]


def _check(errors: list[tuple[Any, ...]]) -> None:
    for topic, code, *rest in errors:
        if code:
            raise AssertionError(f"topic {topic}: error {code} {rest}")
