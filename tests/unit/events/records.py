"""Records to decode."""

from __future__ import annotations

import json
from typing import Any

from consumer.events import decode
from consumer.model import Bad, Event, Reason, Record

DATA: dict[str, Any] = {
    "schema_version": 1,
    "order_id": "A-1001",
    "recipient": "ada@example.com",
    "name": "Ada",
    "total": {"amount_minor": 1999, "currency": "EUR"},
    "placed_at": "2026-03-01T12:00:00Z",
}
ENVELOPE: dict[str, Any] = {
    "specversion": "1.0",
    "id": "ev-1",
    "type": "order.receipt",
    "source": "shop-1",
}
STRUCTURED = {**ENVELOPE, "data": DATA}
CE = tuple((f"ce_{name}", text.encode()) for name, text in ENVELOPE.items())
KEY = "0123456789abcdef" * 3


def record(value: object, *headers: tuple[str, bytes | None], topic: str = "orders") -> Record:
    """Wrap bytes (or None) as they are, anything else as JSON."""
    raw = value if value is None or isinstance(value, bytes) else json.dumps(value).encode()
    return Record(topic, 0, 7, 1_772_366_400_000, b"\x83\x00", raw, headers)


def event(value: object, *headers: tuple[str, bytes | None], topic: str = "orders") -> Event:
    decoded = decode(record(value, *headers, topic=topic))
    assert isinstance(decoded, Event), decoded
    return decoded


def bad(value: object, *headers: tuple[str, bytes | None]) -> Bad:
    decoded = decode(record(value, *headers))
    assert isinstance(decoded, Bad), decoded
    return decoded


def malformed(value: object, *headers: tuple[str, bytes | None]) -> str:
    """Return why it is malformed."""
    refused = bad(value, *headers)
    assert refused.reason is Reason.MALFORMED, refused
    return refused.detail


def unsupported(value: object, *headers: tuple[str, bytes | None]) -> str:
    refused = bad(value, *headers)
    assert refused.reason is Reason.UNSUPPORTED_FORMAT, refused
    return refused.detail
