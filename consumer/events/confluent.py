"""The wire format of Confluent's serializers: a zero byte, the schema's id in four, the value.

Of JSON Schema, the value is JSON and is read like any other: what an event must look like, our own
schema says. Of Avro, it cannot be read without the schema, which the registry has. Of Protobuf, it
is not read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from consumer.events import avro
from consumer.events.strict import Unreadable, read_json
from consumer.model import Bad, Json, NeedsSchema, NoSchema, Reason, Schema

MAGIC: Final = b"\0"
_HEAD: Final = 5  # bytes before the value
_UTF16: Final = b"\0{"  # JSON in UTF-16; as an id, some two thousand million

# What the registry has said by now, by id. None: no registry is configured.
Schemas: TypeAlias = Mapping[int, Schema | NoSchema] | None


def is_framed(value: bytes) -> bool:
    """Say whether the bytes can be of this format: no JSON text begins with a zero byte."""
    return len(value) >= _HEAD and value.startswith(MAGIC) and not value.startswith(_UTF16)


def read(value: bytes, schemas: Schemas, max_bytes: int) -> Json | Bad | NeedsSchema:
    """Read the value behind the head. Pure: the same schemas, the same answer."""
    if len(value) > max_bytes:
        return Bad(Reason.MALFORMED, f"value is longer than {max_bytes} bytes")
    if schemas is None:
        return _without_registry(value)
    number = int.from_bytes(value[1:_HEAD], "big")
    schema = schemas.get(number)
    if schema is None:
        return NeedsSchema(number)
    if isinstance(schema, NoSchema):
        return Bad(Reason.UNSUPPORTED_FORMAT, f"the registry has no schema {number}")
    return _read(value[_HEAD:], schema, number)


def _read(value: bytes, schema: Schema, number: int) -> Json | Bad:
    match schema.kind:
        case "JSON":
            return _plain(value)
        case "AVRO":
            return avro.read(value, schema, number)
        case _:
            kind = schema.kind.lower() if schema.kind.isalpha() else "of an unknown kind"
            return Bad(Reason.UNSUPPORTED_FORMAT, f"schema {number} is {kind}, which is not read")


def _plain(value: bytes) -> Json | Bad:
    body = read_json(value)
    return Bad(Reason.MALFORMED, body.at("value")) if isinstance(body, Unreadable) else body


def _without_registry(value: bytes) -> Json | Bad:
    """The topic is said to hold this format: then JSON can be read without asking anybody."""
    body = read_json(value[_HEAD:])
    if isinstance(body, Unreadable):
        text = "value has a schema's id before it and is not JSON: reading it takes [registry] url"
        return Bad(Reason.UNSUPPORTED_FORMAT, text)
    return body
