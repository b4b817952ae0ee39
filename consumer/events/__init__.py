"""Bytes to events: what a record says, or exactly why it says nothing. One file a wire format.

    the value is null                            a tombstone: skipped
    the body has `specversion`                   CloudEvents 1.0, structured   cloudevents.py
    there are `ce_*` headers                     CloudEvents 1.0, binary       cloudevents.py
    it is of a kind that we know and do not read    `unsupported_format`       foreign.py
    any other JSON object                        plain JSON                    plain.py

The content decides, not `content-type`, which producers set wrongly. A record that can be read in
two ways that differ is malformed: nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from consumer.events import cloudevents, foreign, plain
from consumer.events.headers import Headers, read_headers
from consumer.events.strict import MAX_BYTES, Unreadable, read_json
from consumer.model import Bad, Event, Json, Reason, Record, Skipped, SkipRule

__all__ = ["MAX_BYTES", "decode"]


def decode(
    record: Record, default_type: str | None = None, *, max_bytes: int = MAX_BYTES
) -> Event | Skipped | Bad:
    """Read a record. Pure; never raises, whatever the bytes.

    `default_type` is the event type of plain JSON that names none; without it, the topic's name.
    """
    if record.value is None:
        return Skipped(SkipRule.TOMBSTONE)
    headers = read_headers(record.headers)
    if isinstance(headers, Bad):
        return headers
    result = _read(record.value, headers, default_type or record.topic, max_bytes)
    return _named(result, headers) if isinstance(result, Bad) else result


def _read(value: bytes, headers: Headers, default_type: str, max_bytes: int) -> Event | Bad:
    body = read_json(value, max_bytes)
    if isinstance(body, Unreadable):
        return foreign.unread(value, headers, body)
    if not isinstance(body, dict):
        return foreign.not_an_object(body, headers)
    return _envelope(body, headers, default_type)


def _envelope(body: Mapping[str, Json], headers: Headers, default_type: str) -> Event | Bad:
    if "specversion" in body:
        return cloudevents.structured(body, headers)
    if headers.says_structured:
        return Bad(Reason.MALFORMED, "content-type says CloudEvents; the body has no specversion")
    if headers.cloud:
        return cloudevents.binary(body, headers)
    if kind := foreign.envelope(body):
        return Bad(Reason.UNSUPPORTED_FORMAT, kind)
    return plain.event(body, headers, default_type)


def _named(bad: Bad, headers: Headers) -> Bad:
    """A dead letter that names type and key, where the headers did, is one that can be found."""
    return replace(
        bad,
        event_type=bad.event_type or headers.type or headers.cloud.get("type"),
        idempotency_key=headers.key,
    )
