"""A Kafka as a process, for trying things by hand: `python -m tests.parts.kafka_process orders`.

Makes the topics that are named, prints one JSON line, {"bootstrap_servers": ..., "real": ...}, and
serves until it is stopped. `real` false: librdkafka's mock, good for one member of a group.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import threading
from collections.abc import Sequence

from tests.parts.kafka import Kafka, start_kafka


def main(topics: Sequence[str]) -> None:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())  # never in the middle of starting a child
    with start_kafka() as kafka:
        asyncio.run(_create(kafka, topics))
        told = {"bootstrap_servers": kafka.bootstrap, "real": kafka.real}
        print(json.dumps(told), flush=True)  # noqa: T201 - what a person or a parent reads
        stop.wait()


async def _create(kafka: Kafka, topics: Sequence[str]) -> None:
    for topic in topics:
        await kafka.create_topic(topic, partitions=4)


if __name__ == "__main__":
    main(sys.argv[1:])
