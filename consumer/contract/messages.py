"""The forms in which an event may be published, each as a message of the AsyncAPI document.

plain        one JSON object that is the data; its type in the member `type`, or in a header
cloudevent   CloudEvents 1.0, structured: the data inside an envelope
binary       CloudEvents 1.0, binary: the data is the value, the envelope stands in headers
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson

if TYPE_CHECKING:
    from consumer.contract.kinds import Kind, Sample
    from consumer.model import Json

JsonObject = dict[str, Any]

_KEYS: Final = {
    "sendonce-key": {
        "type": "string",
        "pattern": "^[0-9a-f]{48}$",
        "description": "The whole key of the mail, where the producer knows it (send_key).",
    },
    "idempotency-key": {
        "type": "string",
        "minLength": 1,
        "maxLength": 255,
        "pattern": r"^[\x21-\x7e]+$",
        "description": "Stands in the place of the entity in the key.",
    },
}
_DESCRIBED: Final = {
    "id": "Names this publication; never part of the mail.",
    "source": "Who published it.",
    "time": "When it happened. The event's age counts from here; without it, from the record's "
    "timestamp.",
    "dataschema": "Ends in the schema's version; without it, version 1.",
}


@dataclass(frozen=True, slots=True)
class Form:
    """One way to publish one schema version of a mail type."""

    kind: Kind
    version: int
    suffix: str
    build: Callable[[Form], JsonObject]

    @property
    def name(self) -> str:
        return f"{self.kind.name}.v{self.version}{self.suffix}"

    @property
    def schema(self) -> JsonObject:
        return {"$ref": f"#/components/schemas/{self.kind.name}.v{self.version}"}

    def message(self) -> JsonObject:
        return {"name": self.kind.event, "summary": self.kind.summary, **self.build(self)}

    def samples(self, *, enveloped: bool) -> list[Sample]:
        of_version = (one for one in self.kind.samples if one.version == self.version)
        return [one for one in of_version if one.enveloped is enveloped]


def forms(kind: Kind) -> list[Form]:
    found = []
    for version in kind.versions:
        if kind.is_plain(version):
            found.append(Form(kind, version, "", _plain))
        found.append(Form(kind, version, ".cloudevent", _structured))
        found.append(Form(kind, version, ".cloudevent-binary", _binary))
    return found


def _plain(form: Form) -> JsonObject:
    event = form.kind.event
    type_of = {"type": "string", "const": event, "description": "The event type."}
    headers = _object(_KEYS)
    payload: JsonObject = form.schema
    if form.kind.closed(form.version):
        headers = _object({"type": type_of, **_KEYS}, ["type"])
    else:
        needed = [] if event == form.kind.topic else ["type"]
        payload = {"allOf": [form.schema, _object({"type": type_of}, needed)]}
    return {
        "title": f"{form.kind.name} version {form.version}, plain JSON",
        "contentType": "application/json",
        "headers": headers,
        "payload": payload,
        "examples": [_example(one) for one in form.samples(enveloped=False)],
    }


def _structured(form: Form) -> JsonObject:
    attributes, needed = _attributes(form)
    return {
        "title": f"{form.kind.name} version {form.version}, CloudEvents 1.0",
        "contentType": "application/cloudevents+json",
        "headers": _object(_KEYS),
        "payload": _object({**attributes, "data": form.schema}, [*needed, "data"]),
        "examples": [_example(one) for one in form.samples(enveloped=True)],
    }


def _binary(form: Form) -> JsonObject:
    attributes, needed = _attributes(form)
    headers = {f"ce_{name}": said for name, said in attributes.items()}
    return {
        "title": f"{form.kind.name} version {form.version}, CloudEvents 1.0 in headers",
        "contentType": "application/json",
        "headers": _object({**headers, **_KEYS}, [f"ce_{name}" for name in needed]),
        "payload": form.schema,
        "examples": [_in_headers(one) for one in form.samples(enveloped=True)],
    }


def _attributes(form: Form) -> tuple[JsonObject, list[str]]:
    """Return the envelope's attributes, and which of them must be there."""
    ends = form.kind.rules.declaration.schema_version is None and form.version > 1
    needed = ["specversion", "id", "source", "type", *form.kind.attributes]
    attributes: JsonObject = {
        "specversion": {"type": "string", "const": "1.0"},
        "type": {"type": "string", "const": form.kind.event},
        "time": {"type": "string", "format": "date-time", "description": _DESCRIBED["time"]},
    }
    for name in ("id", "source", "dataschema", *form.kind.attributes):
        attributes.setdefault(name, _text(_DESCRIBED.get(name, "")))
    if ends:
        attributes["dataschema"]["pattern"] = rf"\D{form.version}(\.schema)?(\.json)?$"
        needed.append("dataschema")
    return attributes, list(dict.fromkeys(needed))


def _text(description: str) -> JsonObject:
    return {"type": "string", "minLength": 1, "description": description}


def _object(properties: Mapping[str, Any], required: list[str] | None = None) -> JsonObject:
    said: JsonObject = {"type": "object", "properties": dict(properties)}
    return {**said, "required": required} if required else said


def _example(sample: Sample) -> JsonObject:
    return {"name": sample.name, "payload": orjson.loads(sample.value)}


def _in_headers(sample: Sample) -> JsonObject:
    """Show a CloudEvent with its envelope in the headers."""
    headers: dict[str, Json] = {f"ce_{n}": text for n, text in sample.event.attributes.items()}
    return {"name": sample.name, "headers": headers, "payload": sample.event.data}
