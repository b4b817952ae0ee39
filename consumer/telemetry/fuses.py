"""Blown fuses, a series each: there while it is out, gone when it was put in again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric

from consumer.telemetry.series import Reading

LABELS = ("topic", "provider", "sender")


class BlownNow:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._read: Callable[[], Iterable[Mapping[str, str]]] = tuple
        registry.register(Reading(self._family))

    def watch(self, read: Callable[[], Iterable[Mapping[str, str]]]) -> None:
        """`read`: the names of each; a topic has no provider, and the other way round."""
        self._read = read

    def _family(self) -> Metric:
        text = "1: a fifth of this topic's last records, or of this sender's last answers, was bad."
        family = GaugeMetricFamily("sendonce_fuse_blown", text, labels=LABELS)
        for names in self._read():
            family.add_metric([names.get(label, "") for label in LABELS], 1)
        return family
