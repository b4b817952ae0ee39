"""Bytes to events: what a record says, or exactly why it says nothing. One file a wire format.

    the value is null                            a tombstone: skipped
    it begins with a zero byte                   Confluent's wire format       confluent.py, avro.py
    JSON with `schema` and `payload`, or in a
    JSON string, or beside a header `id`         Connect, Debezium's outbox    connect.py
    the body has `specversion`                   CloudEvents 1.0, structured   cloudevents.py
    there are `ce_*` headers                     CloudEvents 1.0, binary       cloudevents.py
    it is of a kind that we know and do not read    `unsupported_format`       foreign.py
    any other JSON object                        plain JSON                    plain.py

The content decides, not `content-type`, which producers set wrongly. A record that can be read in
two ways that differ is malformed: nothing is guessed. Confluent's format is looked for only where a
registry is configured, or the topic is said to hold it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from consumer.events import cloudevents, confluent, connect, foreign, plain
from consumer.events.confluent import Schemas
from consumer.events.headers import Headers, read_headers
from consumer.events.strict import MAX_BYTES, Unreadable, read_json
from consumer.model import Bad, Event, Json, NeedsSchema, Reason, Record, Skipped, SkipRule

__all__ = ["MAX_BYTES", "Decoder", "Format", "Schemas", "decode"]


class Format(StrEnum):
    """What a topic is said to hold, where its records do not say it well enough themselves."""

    AUTO = "auto"
    CONFLUENT = "confluent"  # every value has a schema's id before it
    DEBEZIUM = "debezium"  # every record came through the outbox event router


@dataclass(frozen=True, slots=True)
class Decoder:
    """Reads records. `schemas` grows while it is used; what stands in it never changes."""

    schemas: Schemas = None
    formats: Mapping[str, Format] = field(default_factory=dict)  # by topic
    max_bytes: int = MAX_BYTES

    def decode(
        self, record: Record, default_type: str | None = None
    ) -> Event | Skipped | Bad | NeedsSchema:
        """Read a record. Never raises, whatever the bytes; pure, given the schemas.

        `default_type` is the event type of JSON that names none; without it, the topic's name.
        """
        if record.value is None:
            return Skipped(SkipRule.TOMBSTONE)
        headers = read_headers(record.headers)
        if isinstance(headers, Bad):
            return headers
        result = self._read(record, record.value, headers, default_type or record.topic)
        return _named(result, headers) if isinstance(result, Bad) else result

    def _read(
        self, record: Record, value: bytes, headers: Headers, default_type: str
    ) -> Event | Bad | NeedsSchema:
        said = self.formats.get(record.topic, Format.AUTO)
        body = self._body(value, headers, said)
        if isinstance(body, Bad | NeedsSchema):
            return body
        routed = headers.outbox_id is not None or said is Format.DEBEZIUM
        if not routed and isinstance(body, dict) and not connect.is_envelope(body):
            return _envelope(body, headers, default_type)
        return _unwrapped(body, headers, default_type, record, routed=routed)

    def _body(self, value: bytes, headers: Headers, said: Format) -> Json | Bad | NeedsSchema:
        framed = self.schemas is not None or said is Format.CONFLUENT
        if framed and confluent.is_framed(value):
            return confluent.read(value, self.schemas, self.max_bytes)
        if said is Format.CONFLUENT:
            return Bad(Reason.MALFORMED, "value has no schema's id before it, as its topic's have")
        body = read_json(value, self.max_bytes)
        return foreign.unread(value, headers, body) if isinstance(body, Unreadable) else body


def decode(
    record: Record, default_type: str | None = None, *, max_bytes: int = MAX_BYTES
) -> Event | Skipped | Bad:
    """Read a record as a deployment without a registry does."""
    result = Decoder(max_bytes=max_bytes).decode(record, default_type)
    assert not isinstance(result, NeedsSchema), "there is no registry to ask"
    return result


def _unwrapped(
    body: Json, headers: Headers, default_type: str, record: Record, *, routed: bool
) -> Event | Bad:
    inside = connect.unwrapped(body, routed=routed)
    if isinstance(inside, Bad):
        return inside
    if not isinstance(inside.body, dict):
        return foreign.not_an_object(inside.body, headers)
    if routed and not _is_cloud_event(inside.body, headers) and not foreign.envelope(inside.body):
        return plain.routed(inside.body, headers, default_type, inside.event_type, record)
    return _envelope(inside.body, headers, default_type)


def _is_cloud_event(body: Mapping[str, Json], headers: Headers) -> bool:
    return "specversion" in body or headers.says_structured or bool(headers.cloud)


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
