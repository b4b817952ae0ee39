"""How time series are made: once each, kept, and found by a look-up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Generic, TypeAlias, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

Lag: TypeAlias = Mapping[tuple[str, int], int]  # (topic, partition) -> records behind the end

Child = TypeVar("Child", Counter, Gauge, Histogram)


class Children(dict[tuple[str, ...], Child], Generic[Child]):
    """The time series of one metric by label values, each made at its first use."""

    def __init__(self, metric: Child) -> None:
        super().__init__()
        self._metric: Child = metric

    def __missing__(self, labels: tuple[str, ...]) -> Child:
        child: Child = self._metric.labels(*labels)
        self[labels] = child
        return child

    def expect(self, labels: Iterable[tuple[str, ...]]) -> None:
        """Make these series now, so that they are seen at 0."""
        for each in labels:
            _ = self[tuple(map(str, each))]


class LagCollector(Collector):
    """Records behind the end, a partition; partitions that were given up vanish from it."""

    def __init__(self, read: Callable[[], Lag]) -> None:
        self._read = read

    def collect(self) -> Iterable[Metric]:
        family = GaugeMetricFamily(
            "sendonce_lag_records", "Records behind the end.", labels=["topic", "partition"]
        )
        for (topic, partition), records in self._read().items():
            family.add_metric([topic, str(partition)], records)
        yield family


def counter(registry: CollectorRegistry, name: str, text: str) -> Counter:
    return Counter(f"sendonce_{name}", text, registry=registry)


def counters(registry: CollectorRegistry, name: str, text: str, *labels: str) -> Children[Counter]:
    return Children(Counter(f"sendonce_{name}", text, labels, registry=registry))


def gauges(registry: CollectorRegistry, name: str, text: str, *labels: str) -> Children[Gauge]:
    return Children(Gauge(f"sendonce_{name}", text, labels, registry=registry))


def histograms(
    registry: CollectorRegistry, name: str, text: str, buckets: tuple[float, ...], *labels: str
) -> Children[Histogram]:
    return Children(Histogram(f"sendonce_{name}", text, labels, buckets=buckets, registry=registry))
