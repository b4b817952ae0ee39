"""CloudEvents 1.0, both modes of the Kafka binding.

    structured   one JSON object: attributes as members, the event in `data` or `data_base64`
    binary       attributes as headers `ce_*`, the event is the whole value

Where an attribute stands in both places, they must agree; so must the header `type`, where there
is one. An event without data is an event with none, which its mail type's schema will judge.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Final

from consumer.events.connect import is_envelope
from consumer.events.headers import Headers, type_problem
from consumer.events.strict import Unreadable, read_json
from consumer.events.times import read_time
from consumer.model import Bad, Event, Json, Reason

_SPECVERSION: Final = "1.0"
_REQUIRED: Final = ("id", "source", "type")
_DATA: Final = frozenset({"data", "data_base64"})
_SUFFIXES: Final = (".json", ".schema")
_DIGITS: Final = "0123456789"
_MAX_VERSION_DIGITS: Final = 9


def structured(body: Mapping[str, Json], headers: Headers) -> Event | Bad:
    attributes = {
        name: value if isinstance(value, str) else _written(value)
        for name, value in body.items()
        if name not in _DATA
    }
    for name, value in headers.cloud.items():
        if attributes.get(name, value) != value:
            return _bad("header ce_* and the body's attribute of the same name differ")
    data = _data(body)
    return data if isinstance(data, Bad) else _event(attributes, data, headers)


def binary(body: Mapping[str, Json], headers: Headers) -> Event | Bad:
    return _event(headers.cloud, body, headers)


def _event(
    attributes: Mapping[str, str | None], data: Mapping[str, Json], headers: Headers
) -> Event | Bad:
    known = {name: text for name, text in attributes.items() if text is not None}
    if bad := _attribute_problem(known, headers):
        return bad
    time = read_time(known["time"]) if "time" in known else None
    if isinstance(time, Bad):
        return time
    version = _schema_version(known.get("dataschema", ""))
    if isinstance(version, Bad):
        return version
    return Event(known["type"], data, known, time, version, headers.key, headers.id)


def _attribute_problem(attributes: Mapping[str, str], headers: Headers) -> Bad | None:
    version = attributes.get("specversion")
    if version != _SPECVERSION:
        return _version_problem(version)
    for name in _REQUIRED:
        if not attributes.get(name):
            return _bad(f"CloudEvents attribute {name} is missing or empty")
    if problem := type_problem(attributes["type"]):
        return _bad(f"CloudEvents attribute type {problem}")
    if headers.type not in (None, attributes["type"]):
        return _bad("header type and the CloudEvents attribute type differ")
    return None


def _version_problem(version: str | None) -> Bad:
    if version:
        return Bad(Reason.UNSUPPORTED_FORMAT, "CloudEvents specversion is not 1.0")
    return _bad("CloudEvents attribute specversion is missing or not a string")


def _written(value: Json) -> str | None:
    """Write what is no string in its canonical form; null, arrays and objects are absent."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case _:
            return None


def _data(body: Mapping[str, Json]) -> Mapping[str, Json] | Bad:
    if "data" in body and "data_base64" in body:
        return _bad("data and data_base64 are both there")
    data = _decoded(body["data_base64"]) if "data_base64" in body else body.get("data", {})
    if isinstance(data, Unreadable):
        return _bad(data.at("data_base64"))
    if isinstance(data, dict) and is_envelope(data):  # Debezium's own CloudEvents, with schemas
        data = data["payload"]
    return data if isinstance(data, dict) else _bad("data is not a JSON object")


def _decoded(text: Json) -> Json | Unreadable:
    if not isinstance(text, str):
        return Unreadable("is not a string")
    try:
        return read_json(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        return Unreadable("is not base64")


def _schema_version(dataschema: str) -> int | Bad:
    """Read the number at the end: .../order/v2, .../2, .../v2.json, .../v2.schema.json."""
    for suffix in _SUFFIXES:
        dataschema = dataschema.removesuffix(suffix)
    rest = dataschema.rstrip(_DIGITS)
    number = dataschema[len(rest) :]
    if not number:
        return 1
    dotted = rest.endswith(".") and rest[-2:-1].isdigit()
    if dotted or len(number) > _MAX_VERSION_DIGITS:
        return _bad("CloudEvents attribute dataschema does not end in one whole number")
    return int(number)


def _bad(detail: str) -> Bad:
    return Bad(Reason.MALFORMED, detail)
