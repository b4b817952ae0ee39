"""From append to the provider's door at a steady rate, well below the limit: what a mail waits.

The service is a process of its own here, as it is in earnest, and so is the publisher. A wait
begins when its record is handed to Kafka's client and ends when its request is whole at the double.
It is asked at a rate that this machine can keep up at the time: at most half of what the guarded
line has just made, or it would tell how long a queue grew in so many seconds.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bench.control import arrivals, restart
from tests.bench.guarded import Bench, place, publish
from tests.bench.measure import Waits, resident_mb

WARM_UP = 500  # mails before the first that counts: joining the group, first connections
SHARE = 0.5  # of the guarded line's own rate: the publisher, Kafka and Postgres want their part
GLANCE = 0.2  # seconds
PATIENCE = 60.0  # seconds for the last mails to arrive


@dataclass(frozen=True, slots=True)
class Steady:
    rate: int
    latency: float  # of the double, in seconds
    waits: Waits  # in the order of publishing
    resident_mb: float  # of the service, at the end

    def as_json(self) -> Mapping[str, object]:
        return {
            "mails_per_second": self.rate,
            "provider_latency_ms": round(self.latency * 1000),
            "append_to_provider_ms": self.waits.percentiles(),
            "of_its_last_quarter_ms": self.last_quarter.percentiles(),
            "mails": len(self.waits.seconds),
            "resident_mb": round(self.resident_mb, 1),
        }

    @property
    def last_quarter(self) -> Waits:
        """Much longer than all of them: a queue grew, and the rate is not a steady one here."""
        return Waits(self.waits.seconds[-len(self.waits.seconds) // 4 :])


def bearable(wanted: int, guarded: float) -> int:
    """Return the rate to ask for, in mails a second; `guarded`: what was just measured."""
    return min(wanted, int(guarded * SHARE) // 10 * 10)


async def steady(bench: Bench, rate: int, seconds: int, latency: float) -> Steady:
    restart(bench.double, latency)
    async with place(bench) as here:
        with _child("consumer", "run", "--config", str(here.config), "--log-level", "error") as run:
            await publish(bench.kafka, here.topic, WARM_UP)
            await _all_arrived(bench.double, WARM_UP)
            count = rate * seconds
            appended = await asyncio.to_thread(
                _publish_steadily, bench.kafka.bootstrap, here.topic, WARM_UP, count, rate
            )
            arrived = await _all_arrived(bench.double, WARM_UP + count)
            memory = resident_mb(run.pid)
    waits = Waits([arrived[mark] - at for mark, at in appended.items()])
    return Steady(rate, latency, waits, memory)


def _publish_steadily(bootstrap: str, topic: str, *numbers: int) -> dict[str, float]:
    """Publish in another process; return when each mail was handed to Kafka's client."""
    command = [sys.executable, "-m", "tests.bench.publisher", bootstrap, topic]
    done = subprocess.run([*command, *map(str, numbers)], check=True, stdout=subprocess.PIPE)
    times: dict[str, float] = json.loads(done.stdout)
    return times


async def _all_arrived(double: str, count: int) -> Mapping[str, float]:
    async with asyncio.timeout(PATIENCE):
        while len(arrived := await asyncio.to_thread(arrivals, double)) < count:  # noqa: ASYNC110 - not our loop
            await asyncio.sleep(GLANCE)
    return arrived


@contextmanager
def _child(module: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen(
        [sys.executable, "-m", module, *arguments], cwd=Path(__file__).parents[2]
    )
    try:
        yield child
    finally:
        child.terminate()
        child.wait(timeout=60)
