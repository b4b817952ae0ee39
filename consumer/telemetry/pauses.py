"""What a person has stopped, as a series each: there while it stands, gone when it goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric

from consumer.guard.pauses import Target
from consumer.telemetry.series import Reading


class PausedNow:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._read: Callable[[], Iterable[Target]] = tuple
        registry.register(Reading(self._family))

    def watch(self, read: Callable[[], Iterable[Target]]) -> None:
        self._read = read

    def _family(self) -> Metric:
        text = "1: a person has stopped this (all, a mail type, a provider)."
        family = GaugeMetricFamily("sendonce_paused", text, labels=["scope", "name"])
        for target in self._read():
            family.add_metric([target.scope, target.name], 1)
        return family
