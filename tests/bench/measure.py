"""What one repetition costs, and the spread of several."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class Cost:
    """One repetition: mails, wall clock and CPU of this process, in seconds."""

    mails: int
    seconds: float = 0.0
    cpu: float = 0.0

    @property
    def rate(self) -> float:
        return self.mails / self.seconds

    @property
    def cpu_us(self) -> float:
        return self.cpu / self.mails * 1e6


@contextmanager
def costing(mails: int) -> Iterator[Cost]:
    cost = Cost(mails)
    began, cpu = time.perf_counter(), time.process_time()
    yield cost
    cost.seconds, cost.cpu = time.perf_counter() - began, time.process_time() - cpu


@dataclass(frozen=True, slots=True)
class Spread:
    """Median with the least and the greatest of the repetitions beside it."""

    median: float
    least: float
    greatest: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        return cls(statistics.median(values), min(values), max(values))

    def __str__(self) -> str:
        digits = 0 if self.median >= 100 else 2
        middle, low, high = (
            f"{value:,.{digits}f}" for value in (self.median, self.least, self.greatest)
        )
        return f"{middle}\n[{low}-{high}]"


@dataclass(slots=True)
class Waits:
    """Latencies in seconds, told as percentiles in milliseconds."""

    seconds: list[float] = field(default_factory=list)

    def percentiles(self) -> dict[str, float]:
        cuts = statistics.quantiles(self.seconds, n=100, method="inclusive")
        return {f"p{p}": round(cuts[p - 1] * 1000, 1) for p in (50, 90, 99)}


def resident_mb(process: int | str = "self") -> float:
    """Resident memory of a process, in megabytes (Linux)."""
    status = Path(f"/proc/{process}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024
