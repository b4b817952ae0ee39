"""From append to the provider's door at a steady rate, well below the limit: what a mail waits.

The service is a process of its own here, as it is in earnest, and so is the publisher.
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
from tests.bench.guarded import Bench, place
from tests.bench.measure import Waits, resident_mb

WARM_UP = 500  # mails that are not counted: joining the group, first connections
GLANCE = 0.2  # seconds
PATIENCE = 60.0  # seconds for the last mails to arrive


@dataclass(frozen=True, slots=True)
class Steady:
    rate: int
    waits: Waits
    resident_mb: float  # of the service, at the end

    def as_json(self) -> Mapping[str, object]:
        return {
            "mails_per_second": self.rate,
            "append_to_provider_ms": self.waits.percentiles(),
            "mails": len(self.waits.seconds),
            "resident_mb": round(self.resident_mb, 1),
        }


async def steady(bench: Bench, rate: int, seconds: int, latency: float) -> Steady:
    count = WARM_UP + rate * seconds
    restart(bench.double, latency)
    async with place(bench) as here:
        with _child("consumer", "run", "--config", str(here.config), "--log-level", "error") as run:
            publisher = await asyncio.to_thread(
                _published, bench.kafka.bootstrap, here.topic, count, rate
            )
            arrived = await _all_arrived(bench.double, count)
            memory = resident_mb(run.pid)
    waits = [arrived[mark] - at for mark, at in publisher.items()][WARM_UP:]
    return Steady(rate, Waits(waits), memory)


def _published(bootstrap: str, topic: str, count: int, rate: int) -> dict[str, float]:
    """Publish at the rate, in another process; return the time at which each was appended."""
    command = [sys.executable, "-m", "tests.bench.publisher", bootstrap, topic, str(count)]
    done = subprocess.run([*command, str(rate)], check=True, stdout=subprocess.PIPE)
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
