"""Publish orders at a steady rate and print when each one was handed to Kafka's client, as JSON.

python -m tests.bench.publisher BOOTSTRAP TOPIC COUNT RATE
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

from aiokafka import AIOKafkaProducer

from tests.bench import mails

PARTITIONS = 4


async def publish(bootstrap: str, topic: str, count: int, rate: float) -> dict[str, float]:
    times = {}
    began = time.monotonic()
    async with AIOKafkaProducer(bootstrap_servers=bootstrap) as producer:
        for number, (key, value) in enumerate(mails.values(0, count)):
            await asyncio.sleep(began + number / rate - time.monotonic())
            times[mails.mark(number)] = time.time()
            await producer.send(topic, value, key=key, partition=number % PARTITIONS)
    return times


if __name__ == "__main__":
    bootstrap, topic, count, rate = sys.argv[1:]
    times = asyncio.run(publish(bootstrap, topic, int(count), float(rate)))
    json.dump(times, sys.stdout)
