"""The numbers of the listener that providers call."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from prometheus_client import CollectorRegistry

from consumer.model import News
from consumer.telemetry.series import counters
from consumer.webhooks import NO_NEWS, UNKNOWN_KEY, Result


class WebhookCounts:
    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = counters(
            registry, "webhooks", "Requests of providers, by result.", "provider", "result"
        )
        self._news = counters(
            registry, "webhook_news", "Events in well signed requests.", "provider", "news"
        )

    def expect(self, providers: Iterable[str]) -> None:
        """Show every series of these providers at 0."""
        names = tuple(providers)
        self._requests.expect(product(names, Result))
        self._news.expect(product(names, (*News, UNKNOWN_KEY, NO_NEWS)))

    def webhook(self, provider: str, result: str) -> None:
        self._requests[provider, result].inc()

    def webhook_news(self, provider: str, news: str, events: int = 1) -> None:
        self._news[provider, news].value += events
