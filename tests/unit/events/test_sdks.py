"""Records that other people's serializers made: CloudEvents of four languages, and Debezium.

Those of Java, JavaScript and Go lie in `samples`, with the programs that made them.
"""

from __future__ import annotations

import json
from base64 import b64decode
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cloudevents.core.bindings import kafka as binding
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent as NewEvent
from cloudevents.v1 import kafka as old_binding
from cloudevents.v1.http import CloudEvent as OldEvent

from consumer.events import decode
from consumer.model import Event, Record
from tests.unit.events.records import event

ORDER = {"id": "N1", "to": "ada@example.com", "name": "Ada"}
TIME = datetime(2026, 3, 1, 12, tzinfo=UTC)
ATTRIBUTES = {"id": "4d47e190", "type": "note", "source": "http://localhost"}
JSON = {"datacontenttype": "application/json"}

LINES = (Path(__file__).parent / "samples/records.jsonl").read_text().splitlines()
SAMPLES = {made["name"]: made for made in map(json.loads, LINES)}


def sample(name: str) -> Event:
    made = SAMPLES[name]
    headers = tuple((header, _bytes(value)) for header, value in made["headers"])
    found = decode(Record("orders", 0, 7, 1, _bytes(made["key"]), _bytes(made["value"]), headers))
    assert isinstance(found, Event), found
    return found


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text)


@pytest.mark.parametrize("name", [one for one in SAMPLES if one.startswith("Debezium")])
def test_debezium(name: str) -> None:
    """Whatever its router's placement and its converters: one event, one type, one key."""
    found = sample(name)
    assert (found.type, found.data) == ("note", ORDER)
    row = "4d47e190-0402-4048-bc2c-89dd54343cdc"
    assert found.attributes == {"id": row, "aggregateid": "N1"}


@pytest.mark.parametrize("name", [one for one in SAMPLES if one.startswith("CloudEvents")])
def test_other_languages(name: str) -> None:
    _check(sample(name))


@pytest.mark.parametrize("mode", ["to_binary", "to_structured"])
def test_pythons_binding(mode: str) -> None:
    attributes = {**ATTRIBUTES, **JSON, "specversion": "1.0", "time": TIME}
    message = getattr(binding, mode)(NewEvent(attributes, ORDER), JSONFormat())
    _check(event(message.value, *message.headers.items()))


@pytest.mark.parametrize("mode", ["to_binary", "to_structured"])
def test_pythons_former_binding(mode: str) -> None:
    attributes = {**ATTRIBUTES, **JSON, "time": TIME.isoformat(), "partitionkey": "N1"}
    message: Any = getattr(old_binding, mode)(OldEvent(attributes, ORDER))
    value = message.value if isinstance(message.value, bytes) else message.value.encode()
    _check(event(value, *message.headers.items()))


def _check(found: Event) -> None:
    assert (found.type, found.data, found.time) == ("note", ORDER, TIME)
    assert {name: found.attributes[name] for name in ATTRIBUTES} == ATTRIBUTES
