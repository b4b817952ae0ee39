"""Kafka for the demo: the mock cluster of librdkafka, inside this process and gone with it.

It speaks the real protocol to the real service, makes a topic of four partitions when one is first
written to, and is good for one member of a group. What it cannot do is why the tests start Apache
Kafka itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

from consumer.demo.traffic import Publication

PARTITIONS = 4  # what the mock cluster gives every topic
PATIENCE = 10.0  # seconds for a request within one machine


@dataclass
class EmbeddedKafka:
    outcomes_topic: str
    group: str
    _producer: Any = None
    _reader: Any = None
    servers: str = ""
    outcomes: dict[tuple[str, int, int], dict[str, Any]] = field(default_factory=dict)

    def start(self) -> None:
        quiet = {"log_level": 0}
        self._producer = Producer({**quiet, "test.mock.num.brokers": 1, "bootstrap.servers": "-"})
        brokers = self._producer.list_topics(timeout=PATIENCE).brokers.values()
        self.servers = ",".join(f"{broker.host}:{broker.port}" for broker in brokers)
        self._reader = Consumer(
            {**quiet, "bootstrap.servers": self.servers, "group.id": self.group,
             "enable.auto.commit": False, "auto.offset.reset": "earliest"}
        )  # fmt: skip

    def stop(self) -> None:
        if self._reader is not None:
            self._reader.close()

    def publish(self, publications: Iterable[Publication]) -> None:
        for one in publications:
            self._producer.produce(one.topic, one.value, key=one.key, headers=list(one.headers))
        left = self._producer.flush(PATIENCE)
        if left:
            raise RuntimeError(f"{left} records could not be published")

    def ends(self, topics: Iterable[str]) -> dict[tuple[str, int], int]:
        """Count the records of each partition: its end offset, as the broker tells it."""
        return {
            (place.topic, place.partition): self._reader.get_watermark_offsets(place, PATIENCE)[1]
            for place in _places(topics)
        }

    def committed(self, topics: Iterable[str]) -> dict[tuple[str, int], int]:
        """Tell how far the service's group has committed; nothing yet is 0."""
        places = self._reader.committed(_places(topics), PATIENCE)
        return {(place.topic, place.partition): max(place.offset, 0) for place in places}

    def read_outcomes(self) -> Mapping[tuple[str, int, int], dict[str, Any]]:
        """Read what is new on the outcomes topic; return the last word on each record so far."""
        if not self._reader.assignment():
            self._reader.assign(
                [TopicPartition(self.outcomes_topic, n, 0) for n in range(PARTITIONS)]
            )
        for message in self._reader.consume(5000, 0.05):
            if message.error() is None:
                outcome = json.loads(message.value())
                source = outcome["source"]
                self.outcomes[source["topic"], source["partition"], source["offset"]] = outcome
        return self.outcomes


def _places(topics: Iterable[str]) -> list[TopicPartition]:
    return [TopicPartition(topic, number) for topic in topics for number in range(PARTITIONS)]
