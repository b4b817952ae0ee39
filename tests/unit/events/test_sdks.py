"""CloudEvents as the SDKs of four languages put them on Kafka, after their own samples."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from cloudevents.core.bindings import kafka as binding
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent as NewEvent
from cloudevents.v1 import kafka as old_binding
from cloudevents.v1.http import CloudEvent as OldEvent

from consumer.model import Event
from tests.unit.events.records import event

ORDER = {"order_id": "A-1", "email": "ada@example.com"}
TIME = datetime(2018, 4, 26, 14, 48, 9, tzinfo=UTC)
ATTRIBUTES = {"id": "hello", "type": "example.kafka", "source": "http://localhost"}


def read(headers: Mapping[str, bytes], value: bytes | str) -> Event:
    raw = value if isinstance(value, bytes) else value.encode()
    return event(raw, *headers.items())


def python_new() -> NewEvent:
    wanted = {**ATTRIBUTES, "specversion": "1.0", "time": TIME,
              "datacontenttype": "application/json"}  # fmt: skip
    return NewEvent(attributes=wanted, data=ORDER)


def python_old() -> OldEvent:
    wanted = {**ATTRIBUTES, "time": TIME.isoformat(), "datacontenttype": "application/json",
              "partitionkey": "A-1"}  # fmt: skip
    return OldEvent(wanted, ORDER)


def lines(**headers: str) -> dict[str, bytes]:
    return {name.replace("__", "-"): text.encode() for name, text in headers.items()}


# Written as the SDK of each language writes it: which headers, in which case, with which spelling.
JAVA_BINARY = lines(
    ce_specversion="1.0", ce_id="hello", ce_type="example.kafka", ce_source="http://localhost",
    ce_time="2018-04-26T14:48:09Z", content__type="application/json",
)  # fmt: skip
GO_BINARY = lines(
    content__type="application/json", ce_specversion="1.0", ce_id="hello", ce_type="example.kafka",
    ce_source="http://localhost", ce_time="2018-04-26T14:48:09Z",
)  # fmt: skip
JS_BINARY = lines(
    ce_id="hello", ce_type="example.kafka", ce_source="http://localhost", ce_specversion="1.0",
    ce_time="2018-04-26T14:48:09.000Z", ce_datacontenttype="application/json",
)  # fmt: skip
STRUCTURED = {
    "specversion": "1.0", **ATTRIBUTES, "time": "2018-04-26T14:48:09Z",
    "datacontenttype": "application/json", "data": ORDER,
}  # fmt: skip
JS_STRUCTURED = {**STRUCTURED, "time": "2018-04-26T14:48:09.000Z"}

RECORDS: dict[str, tuple[Mapping[str, bytes], bytes | str]] = {
    "Java, binary": (JAVA_BINARY, json.dumps(ORDER)),
    "Java, structured": (
        lines(content__type="application/cloudevents+json"),
        json.dumps(STRUCTURED),
    ),
    "Go, binary": (GO_BINARY, json.dumps(ORDER)),
    "Go, structured": (
        lines(content__type="application/cloudevents+json"),
        json.dumps(STRUCTURED),
    ),
    "JavaScript, binary": (JS_BINARY, json.dumps(ORDER)),
    "JavaScript, structured": (
        lines(content__type="application/cloudevents+json; charset=utf-8"),
        json.dumps(JS_STRUCTURED),
    ),
}


@pytest.mark.parametrize("name", RECORDS)
def test_other_languages(name: str) -> None:
    _check(read(*RECORDS[name]))


@pytest.mark.parametrize("mode", ["to_binary", "to_structured"])
def test_pythons_new_binding(mode: str) -> None:
    message = getattr(binding, mode)(python_new(), JSONFormat())
    _check(read(message.headers, message.value))


@pytest.mark.parametrize("mode", ["to_binary", "to_structured"])
def test_pythons_old_binding(mode: str) -> None:
    message: Any = getattr(old_binding, mode)(python_old())
    _check(read(message.headers, message.value))


def _check(found: Event) -> None:
    assert found.type == "example.kafka"
    assert found.data == ORDER
    assert found.time == TIME
    assert {name: found.attributes[name] for name in ATTRIBUTES} == ATTRIBUTES
