"""Avro, read with the schema it was written with (the extra `avro`), as JSON has it.

    decimal                   "12.50"                      exact, with the digits of its scale
    timestamp-millis, -micros "2026-03-01T12:00:00.25Z"    RFC 3339 in UTC, without needless zeros
    local-timestamp-...       "2026-03-01T12:00:00.25"     no instant, so no offset
    date, time-...            "2026-03-01", "12:00:00.25"
    uuid                      "0f8fad5b-d9cb-469f-a165-70867728950e"
    bytes, fixed              base64
    enum, union               the symbol, the value
    record, map, array        object, object, array

Texts, because a mail may not be off by what a double cannot hold, and a time that is a bare number
would not say of what. What the library does not know (timestamp-nanos) stays the number it is.
"""

from __future__ import annotations

import io
import math
from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

import orjson

from consumer.events.strict import Unreadable, first_flaw
from consumer.model import Bad, Json, Reason, Schema

try:
    import fastavro
except ImportError:  # the extra is not installed
    fastavro = None  # type: ignore[assignment]  # asked for before each use

KEPT: Final = 512  # parsed schemas; a topic has a few
_NO_EXTRA: Final = "value is Avro, and this installation is without the extra `avro`"


def read(value: bytes, schema: Schema, number: int) -> Json | Bad:
    """Read one value, all of it. Never raises, whatever the bytes; `number`: the schema's id."""
    if fastavro is None:
        return Bad(Reason.UNSUPPORTED_FORMAT, _NO_EXTRA)
    parsed = _parsed(schema)
    if parsed is None:
        return Bad(Reason.UNSUPPORTED_FORMAT, f"schema {number} is none that can be read")
    body = _read(value, parsed)
    if isinstance(body, Unreadable):
        return Bad(Reason.MALFORMED, f"{body.at('value')} (read with schema {number})")
    return body


def _read(value: bytes, parsed: Any) -> Json | Unreadable:
    source = io.BytesIO(value)
    try:
        tree = _as_json(fastavro.schemaless_reader(source, parsed, None))
    except Exception:  # noqa: BLE001 - the library raises nearly anything at bytes that do not fit
        return Unreadable("is not what its Avro schema says")
    if source.read(1):
        return Unreadable("goes on after what its Avro schema says")
    return first_flaw(tree) or tree


@lru_cache(maxsize=KEPT)
def _parsed(schema: Schema) -> Any:
    """Parse a schema; None where it cannot be, or where no value of it is read."""
    named: dict[str, Any] = {}
    try:
        for text in schema.references:
            fastavro.parse_schema(_tree(text), named)
        parsed = fastavro.parse_schema(_tree(schema.text), named)
    except Exception:  # noqa: BLE001 - likewise: a schema that nobody could have written with
        return None
    return parsed if _has_end(parsed, named) else None


def _tree(text: str) -> Any:
    """A schema of one word may stand there without the quotes that JSON wants."""
    return orjson.loads(text) if text.lstrip()[:1] in '{["' else text.strip()


def _has_end(node: Any, named: Mapping[str, Any], around: tuple[str, ...] = ()) -> bool:
    """Say whether a value of this schema can be no deeper and no longer than its bytes.

    A type inside itself can be as deep as a record is long, and the library, which is in C, falls
    over that with the whole process. A list of what takes no byte can have billions of items.
    """
    match node:
        case str():
            return node not in around and (
                node not in named or _has_end(named[node], named, around)
            )
        case list():
            return all(_has_end(one, named, around) for one in node)
        case {"type": "record" | "error", "name": name, "fields": fields}:
            within = (*around, name)
            return all(_has_end(field["type"], named, within) for field in fields)
        case {"type": "array", "items": items}:
            return not _takes_no_byte(items, named) and _has_end(items, named, around)
        case {"type": "map", "values": values}:
            return _has_end(values, named, around)
        case {"type": str()}:
            return True
        case _:
            return False


def _takes_no_byte(node: Any, named: Mapping[str, Any]) -> bool:
    match node:
        case "null" | {"type": "null"} | {"type": "fixed", "size": 0}:
            return True
        case {"type": "record" | "error", "fields": fields}:
            return all(_takes_no_byte(field["type"], named) for field in fields)
        case str() if node in named:
            return _takes_no_byte(named[node], named)
        case _:
            return False


def _as_json(node: Any) -> Any:
    """Write what the library makes of logical types as JSON has it; the order matters."""
    match node:
        case Mapping():
            return {str(name): _as_json(child) for name, child in node.items()}
        case list():
            return [_as_json(child) for child in node]
        case bytes():
            return b64encode(node).decode()
        case Decimal():
            return f"{node:f}"
        case datetime():
            return _instant(node)
        case date():
            return node.isoformat()
        case time():
            return _trimmed(node.isoformat())
        case UUID():
            return str(node)
        case float() if not math.isfinite(node):
            raise ValueError("JSON has no such number")
        case _:
            return node


def _instant(moment: datetime) -> str:
    if moment.tzinfo is None:
        return _trimmed(moment.isoformat())
    return _trimmed(moment.astimezone(UTC).replace(tzinfo=None).isoformat()) + "Z"


def _trimmed(text: str) -> str:
    """Drop zeros that say nothing: millis and micros of one moment are one text."""
    return text.rstrip("0") if "." in text else text
