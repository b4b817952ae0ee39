"""Publish orders at a steady rate and print when each one was handed to Kafka's client, as JSON.

python -m tests.bench.publisher BOOTSTRAP TOPIC FIRST COUNT RATE
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

from aiokafka import AIOKafkaProducer

from tests.bench import mails

PARTITIONS = 4


async def publish(
    bootstrap: str, topic: str, first: int, count: int, rate: int
) -> dict[str, float]:
    times = {}
    began = time.monotonic()
    async with AIOKafkaProducer(bootstrap_servers=bootstrap) as producer:
        for number, (key, value) in enumerate(mails.values(first, count)):
            await asyncio.sleep(began + number / rate - time.monotonic())
            times[mails.mark(first + number)] = time.time()
            await producer.send(topic, value, key=key, partition=number % PARTITIONS)
    return times


if __name__ == "__main__":
    bootstrap, topic, *numbers = sys.argv[1:]
    first, count, rate = map(int, numbers)
    json.dump(asyncio.run(publish(bootstrap, topic, first, count, rate)), sys.stdout)
