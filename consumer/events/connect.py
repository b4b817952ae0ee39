"""What Kafka Connect and Debezium's outbox event router put around an event.

    {"schema": ..., "payload": ...}       Connect's JSON converter with schemas: the payload counts
    "{...}", a JSON string                a payload that was not expanded: JSON inside it
    {"eventType": ..., "payload": ...}    the router's envelope, where columns are placed in it

The last two only where the record is the router's: it carries the header `id`, or its topic is said
to hold such records. Whichever way the connector is set, the same event comes out, and so the same
key: setting it otherwise sends nothing again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from consumer.events.headers import Headers
from consumer.events.strict import Unreadable, read_json
from consumer.model import Bad, Json, Reason, Record

_ENVELOPE: Final = frozenset({"schema", "payload"})
_ROUTED: Final = frozenset({"eventType", "payload"})


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """`event_type`: as the envelope names it."""

    body: Json
    event_type: str | None = None


def is_envelope(body: Json) -> bool:
    """Recognise Connect's envelope; `schema` is null for what has none."""
    return (
        isinstance(body, dict)
        and body.keys() == _ENVELOPE
        and (body["schema"] is None or isinstance(body["schema"], dict))
    )


def unwrapped(body: Json, *, routed: bool) -> Unwrapped | Bad:
    """Take off what is around the event, each kind of it once."""
    if isinstance(body, dict) and is_envelope(body):
        body = body["payload"]
        routed = routed or isinstance(body, str)
    if routed and isinstance(body, dict) and body.keys() >= _ROUTED:
        return _from_router(body)
    inner = _expanded(body) if routed else body
    return inner if isinstance(inner, Bad) else Unwrapped(inner)


def attributes(record: Record, headers: Headers) -> dict[str, str]:
    """Return what the router says beside the payload: the row's `id`, and the record's key."""
    row = headers.outbox_id and plain_text(headers.outbox_id)
    named = {"id": row, "aggregateid": _key_text(record.key)}
    return {name: text for name, text in named.items() if text}


def plain_text(text: str) -> str:
    """Read a text that Connect's JSON converter may have written: in quotes, or in an envelope."""
    if text[:1] not in ('"', "{"):
        return text
    body = read_json(text.encode())
    if isinstance(body, dict) and is_envelope(body):
        body = body["payload"]
    return body if isinstance(body, str) else text


def _from_router(body: Mapping[str, Json]) -> Unwrapped | Bad:
    event_type = body["eventType"]
    if not isinstance(event_type, str):
        return Bad(Reason.MALFORMED, "value.eventType is not a string")
    inner = _expanded(body["payload"])
    return inner if isinstance(inner, Bad) else Unwrapped(inner, event_type)


def _expanded(body: Json) -> Json | Bad:
    """Read JSON in a JSON string: one level, since more is somebody's mistake."""
    if body is None:
        return Bad(Reason.MALFORMED, "payload is null")
    if not isinstance(body, str):
        return body
    inner = read_json(body.encode())
    if isinstance(inner, Unreadable):
        return Bad(Reason.MALFORMED, inner.at("payload"))
    return inner


def _key_text(key: bytes | None) -> str | None:
    """Read the record's key, which is the aggregate's id; None where it is no text."""
    try:
        text = plain_text((key or b"").decode())
    except UnicodeDecodeError:
        return None
    return text if text and text.isprintable() else None
