"""Laws of the listener's numbers: all at 0 from the start, and counted by provider."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, generate_latest

from consumer.telemetry.webhooks import WebhookCounts


def test_series_stand_at_zero_and_rise() -> None:
    registry = CollectorRegistry()
    counts = WebhookCounts(registry)
    counts.expect(["ses"])
    assert 'sendonce_webhooks_total{provider="ses",result="forged"} 0.0' in _text(registry)
    counts.webhook("ses", "forged")
    counts.webhook_news("ses", "bounced")
    counts.webhook_news("ses", "no_news", 7)
    assert 'sendonce_webhooks_total{provider="ses",result="forged"} 1.0' in _text(registry)
    assert 'sendonce_webhook_news_total{news="bounced",provider="ses"} 1.0' in _text(registry)
    assert 'sendonce_webhook_news_total{news="no_news",provider="ses"} 7.0' in _text(registry)


def _text(registry: CollectorRegistry) -> list[str]:
    lines = generate_latest(registry).decode().splitlines()
    return [_sorted(line) for line in lines]


def _sorted(line: str) -> str:
    """Labels in the order of their names, whichever they were made in."""
    name, brace, rest = line.partition("{")
    labels, _, value = rest.partition("}")
    return f"{name}{{{','.join(sorted(labels.split(',')))}}}{value}" if brace else line
