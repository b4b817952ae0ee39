"""What we know and do not read: recognised, so that a dead letter says more than "malformed".

A format that is read one day leaves this file and gets one of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from consumer.events.headers import Headers
from consumer.events.strict import Unreadable
from consumer.model import Bad, Json, Reason

_UTF16: Final = (b"\xff\xfe", b"\xfe\xff", b"\x00{", b"{\x00")
_STARTS: Final = (
    (b"\x00", "the Confluent wire format (magic byte 0)"),
    (b"Obj\x01", "an Avro container"),
    (b"\x1f\x8b", "gzip inside the record"),
    (b"\x28\xb5\x2f\xfd", "zstd inside the record"),
)
_DEBEZIUM_CHANGE: Final = frozenset({"before", "after", "op"})


def unread(value: bytes, headers: Headers, why: Unreadable) -> Bad:
    """Say what bytes are that are not JSON."""
    if not value:
        return Bad(Reason.MALFORMED, "value is empty")
    if value.startswith(_UTF16):
        return Bad(Reason.MALFORMED, "value is UTF-16; only UTF-8 is read")
    for start, kind in _STARTS:
        if value.startswith(start):
            return Bad(Reason.UNSUPPORTED_FORMAT, f"value is {kind}")
    if headers.names_schema:
        text = "value is written with a schema that a header names; write its id before the value"
        return Bad(Reason.UNSUPPORTED_FORMAT, text)
    if _is_other_media(headers.media_type):
        return Bad(Reason.UNSUPPORTED_FORMAT, "value is not JSON, as its content-type says")
    return Bad(Reason.MALFORMED, why.at("value"))


def not_an_object(body: Json, headers: Headers) -> Bad:
    """Say what JSON is that is no object."""
    if isinstance(body, list) and headers.says_structured:
        return Bad(Reason.UNSUPPORTED_FORMAT, "value is a batch of CloudEvents")
    if isinstance(body, str) and body.lstrip().startswith("{"):
        return Bad(Reason.UNSUPPORTED_FORMAT, "value is JSON inside a JSON string")
    return Bad(Reason.MALFORMED, "value is JSON, but not an object")


def envelope(body: Mapping[str, Json]) -> str | None:
    """Name what is no event of a business, but of a database."""
    if body.keys() >= _DEBEZIUM_CHANGE:
        return "value is a Debezium change event: route its table as an outbox"
    return None


def _is_other_media(media_type: str | None) -> bool:
    return bool(media_type) and not (media_type or "").endswith(("json", "text/plain"))
