"""How time series are made: once each, kept, and found by a look-up.

What is counted for every mail is counted here: the client library's own series take a lock and look
for a histogram's bucket one by one, five times the cost. They are needed where threads count; here
only the event loop does. What the library is asked for is the reading.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Generic, TypeAlias, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

Lag: TypeAlias = Mapping[tuple[str, int], int]  # (topic, partition) -> records behind the end


@dataclass(slots=True)
class Count:
    """One series that only rises."""

    value: int = 0

    def inc(self) -> None:
        self.value += 1


class Spread:
    """One series of a histogram. A bucket holds what is at most its bound; the last, the rest."""

    __slots__ = ("_bounds", "_counts", "sum")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        self._counts[bisect_left(self._bounds, value)] += 1
        self.sum += value

    def buckets(self) -> list[tuple[str, float]]:
        """Return bounds as Prometheus writes them, and how much lies at or below each."""
        bounds = [*(str(float(bound)) for bound in self._bounds), "+Inf"]
        return list(zip(bounds, accumulate(self._counts), strict=True))


Child = TypeVar("Child")  # Count, Spread or the library's Gauge


class Children(dict[tuple[str, ...], Child], Generic[Child]):
    """The time series of one metric by label values, each made at its first use."""

    def __init__(self, make: Callable[[tuple[str, ...]], Child]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, labels: tuple[str, ...]) -> Child:
        child = self[labels] = self._make(labels)
        return child

    def expect(self, labels: Iterable[tuple[str, ...]]) -> None:
        """Make these series now, so that they are seen at 0."""
        for each in labels:
            _ = self[tuple(map(str, each))]


class Reading(Collector):
    """A metric that is put together when Prometheus asks."""

    def __init__(self, read: Callable[[], Metric]) -> None:
        self._read = read

    def collect(self) -> Iterable[Metric]:
        yield self._read()


def counter(registry: CollectorRegistry, name: str, text: str) -> Counter:
    return Counter(f"sendonce_{name}", text, registry=registry)


def counters(registry: CollectorRegistry, name: str, text: str, *labels: str) -> Children[Count]:
    children: Children[Count] = Children(lambda _: Count())

    def read() -> Metric:
        family = CounterMetricFamily(f"sendonce_{name}", text, labels=labels)
        for values, child in children.items():
            family.add_metric(values, child.value)
        return family

    registry.register(Reading(read))
    return children


def histograms(
    registry: CollectorRegistry, name: str, text: str, bounds: tuple[float, ...], *labels: str
) -> Children[Spread]:
    children: Children[Spread] = Children(lambda _: Spread(bounds))

    def read() -> Metric:
        family = HistogramMetricFamily(f"sendonce_{name}", text, labels=labels)
        for values, child in children.items():
            family.add_metric(values, child.buckets(), child.sum)
        return family

    registry.register(Reading(read))
    return children


def gauges(registry: CollectorRegistry, name: str, text: str, *labels: str) -> Children[Gauge]:
    gauge = Gauge(f"sendonce_{name}", text, labels, registry=registry)
    return Children(lambda values: gauge.labels(*values))


def lag_of(read: Callable[[], Lag]) -> Metric:
    """Records behind the end, a partition; partitions that were given up vanish from it."""
    family = GaugeMetricFamily(
        "sendonce_lag_records", "Records behind the end.", labels=["topic", "partition"]
    )
    for (topic, partition), records in read().items():
        family.add_metric([topic, str(partition)], records)
    return family
