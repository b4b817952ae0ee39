"""Where the time of one email goes: a look at the stack at every tick of the kernel's CPU timer.

The innermost frame that belongs to a stage takes the sample; C code counts for the Python that
called it. The ticks (every 1 to 4 ms, as the kernel likes) share out the CPU that was measured.
"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Final

from tests.bench.measure import Cost

INTERVAL: Final = 0.001  # seconds of CPU

# The first that fits a frame's file (and function), from the innermost frame outwards.
_STAGES: Final = (
    ("decode", "consumer/events/", ""),
    ("render", "consumer/catalogue/", "render"),
    ("map, check, key", "consumer/catalogue/", "read"),
    ("map, check, key", "consumer/keys", ""),
    ("guard (asyncpg)", "/asyncpg/", ""),
    ("guard (asyncpg)", "consumer/guard/", ""),
    ("provider's request", "consumer/providers/", "prepare"),
    ("provider's request", "consumer/providers/", "prepared"),
    ("provider's request", "consumer/providers/", "request"),
    ("provider's request", "consumer/providers/fields", ""),
    ("permits, breaker", "consumer/providers/permits", ""),
    ("permits, breaker", "consumer/providers/waiters", ""),
    ("permits, breaker", "consumer/providers/gate", ""),
    ("permits, breaker", "consumer/providers/bucket", ""),
    ("permits, breaker", "consumer/providers/wire", ""),
    ("POST (aiohttp)", "/aiohttp/", ""),
    ("POST (aiohttp)", "consumer/providers/", ""),
    ("log and metrics", "/structlog/", ""),
    ("log and metrics", "/prometheus_client/", ""),
    ("log and metrics", "consumer/telemetry/", ""),
    ("Kafka (aiokafka)", "/aiokafka/", ""),
    ("Kafka, offsets, holds", "consumer/intake/", ""),
    *(
        ("line, flight", f"consumer/{name}", "")
        for name in ("line", "flight", "endings", "re", "ro", "rules")
    ),
    ("event loop", "/asyncio/", ""),
)


@dataclass
class Samples:
    taken: Counter[str] = field(default_factory=Counter)

    def take(self, _: int, frame: FrameType | None) -> None:
        self.taken[stage(frame)] += 1

    def restart(self) -> None:
        """Forget what was seen so far: the start is not what is measured."""
        self.taken.clear()

    def shared_out(self, cost: Cost) -> dict[str, float]:
        """Microseconds of CPU per mail, by stage, the dearest first."""
        one = cost.cpu_us / self.taken.total()
        return {name: round(count * one, 1) for name, count in self.taken.most_common()}


def stage(frame: FrameType | None) -> str:
    while frame is not None:
        code = frame.f_code
        for name, file, function in _STAGES:
            if file in code.co_filename and function in ("", code.co_name):
                return name
        frame = frame.f_back
    return "the rest"


@contextmanager
def sampling() -> Iterator[Samples]:
    samples = Samples()
    before: Any = signal.signal(signal.SIGPROF, samples.take)
    signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)
    try:
        yield samples
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
