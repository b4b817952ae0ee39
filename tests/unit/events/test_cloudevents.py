"""CloudEvents 1.0 in both modes, and what happens where they meet."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from consumer.model import Reason
from tests.unit.events.records import (
    CE,
    DATA,
    ENVELOPE,
    STRUCTURED,
    bad,
    event,
    malformed,
    unsupported,
)

CE_JSON = ("content-type", b"application/cloudevents+json; charset=utf-8")


def test_both_modes_make_the_same_event() -> None:
    structured, binary = event(STRUCTURED), event(DATA, *CE)
    assert structured == binary
    assert structured.type == "order.receipt"
    assert structured.data == DATA
    assert structured.attributes == ENVELOPE
    assert (structured.time, structured.schema_version) == (None, 1)


@pytest.mark.parametrize(
    "content_type",
    [None, b"application/json", b"text/plain", b"", b"application/cloudevents+json"],
)
def test_a_body_with_specversion_is_structured_whatever_content_type_says(
    content_type: bytes | None,
) -> None:
    assert event(STRUCTURED, ("content-type", content_type)) == event(STRUCTURED)


@pytest.mark.parametrize("content_type", [None, b"application/json", b"application/x"])
def test_ce_headers_are_binary_mode_whatever_content_type_says(
    content_type: bytes | None,
) -> None:
    assert event(DATA, *CE, ("content-type", content_type)).type == "order.receipt"
    assert event(DATA, *CE, ("ce_datacontenttype", b"application/json")).data == DATA


def test_a_content_type_that_promises_an_envelope_must_keep_it() -> None:
    detail = "content-type says CloudEvents; the body has no specversion"
    assert malformed(DATA, CE_JSON) == detail
    assert malformed(DATA, CE_JSON, *CE) == detail


def test_both_modes_at_once_must_agree() -> None:
    assert event(STRUCTURED, *CE) == event(STRUCTURED)
    assert event(STRUCTURED, ("ce_other", b"x")) == event(STRUCTURED)
    for name in ("type", "id", "source", "specversion"):
        others = tuple((n, b"other" if n == f"ce_{name}" else v) for n, v in CE)
        assert malformed(STRUCTURED, *others) == (
            "header ce_* and the body's attribute of the same name differ"
        )


def test_the_header_type_must_agree_too() -> None:
    detail = "header type and the CloudEvents attribute type differ"
    for body, headers in ((STRUCTURED, ()), (DATA, CE)):
        assert event(body, *headers, ("type", b"order.receipt")).type == "order.receipt"
        assert malformed(body, *headers, ("type", b"other")) == detail


@pytest.mark.parametrize("name", ["id", "source", "type"])
@pytest.mark.parametrize("value", ["", None, [], 1.5])
def test_required_attributes(name: str, value: object) -> None:
    detail = f"CloudEvents attribute {name} is missing or empty"
    assert malformed({**STRUCTURED, name: value}) == detail
    without = {n: v for n, v in STRUCTURED.items() if n != name}
    assert malformed(without) == detail
    if name != "type":
        assert malformed(DATA, *(pair for pair in CE if pair[0] != f"ce_{name}")) == detail


def test_specversion() -> None:
    assert unsupported({**STRUCTURED, "specversion": "0.3"})
    assert unsupported({**STRUCTURED, "specversion": "2.0"})
    odd: list[object] = [1.0, None, [], ""]
    for value in odd:
        assert malformed({**STRUCTURED, "specversion": value}).endswith("missing or not a string")
    assert malformed(DATA, ("ce_id", b"1")).endswith("missing or not a string")


@pytest.mark.parametrize("batch", [[STRUCTURED], []])
def test_a_batch_is_a_format_that_is_not_read(batch: list[Any]) -> None:
    header = ("content-type", b"application/cloudevents-batch+json")
    assert unsupported(batch, header) == "value is a batch of CloudEvents"


# ── Data


def _base64(data: bytes) -> dict[str, Any]:
    return {**ENVELOPE, "data_base64": base64.b64encode(data).decode()}


def test_data_may_come_as_base64() -> None:
    assert event(_base64(json.dumps(DATA).encode())) == event(STRUCTURED)


@pytest.mark.parametrize("data", [b'{"a":1,"a":2}', b"[", b"\xff", b'{"a":NaN}'])
def test_base64_data_is_read_as_strictly(data: bytes) -> None:
    assert malformed(_base64(data)).startswith("data_base64")


@pytest.mark.parametrize("text", ["?", "e30", "e3 0=", "\u00e9", 1234, None, {}, ["e30="]])
def test_what_is_not_base64(text: object) -> None:
    assert malformed({**ENVELOPE, "data_base64": text}).startswith("data_base64 is not ")


@pytest.mark.parametrize("data", [None, [], "text", json.dumps(DATA), 3, False])
def test_data_is_an_object(data: object) -> None:
    assert malformed({**ENVELOPE, "data": data}) == "data is not a JSON object"
    assert malformed(_base64(json.dumps(data).encode())) == "data is not a JSON object"


def test_no_data_is_empty_and_two_are_too_many() -> None:
    assert event(ENVELOPE).data == {}
    assert malformed({**_base64(b"{}"), "data": {}}) == "data and data_base64 are both there"


def test_long_integers_in_data_are_exact() -> None:
    data = event({**STRUCTURED, "data": {"order_id": 327267367867168100000}}).data
    assert data == {"order_id": 327267367867168100000}


def test_attributes_are_text_and_what_is_no_text_is_absent() -> None:
    extra: dict[str, object] = {
        "a": True,
        "b": 2**70,
        "c": None,
        "d": {},
        "e": [1],
        "f": 1.5,
        "g": "x",
    }
    attributes = event({**STRUCTURED, **extra}).attributes
    assert attributes == {**ENVELOPE, "a": "true", "b": str(2**70), "g": "x"}


# ── Time and version


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-03-01T12:00:00Z", datetime(2026, 3, 1, 12, tzinfo=UTC)),
        ("2026-03-01t12:00:00z", datetime(2026, 3, 1, 12, tzinfo=UTC)),
        ("2026-03-01T12:00:00+02:00", datetime(2026, 3, 1, 10, tzinfo=UTC)),
        ("2026-03-01T12:00:00.5Z", datetime(2026, 3, 1, 12, 0, 0, 500_000, tzinfo=UTC)),
        ("2026-03-01T12:00:00.123456789Z", datetime(2026, 3, 1, 12, 0, 0, 123_456, tzinfo=UTC)),
        ("2016-12-31T23:59:60Z", datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_times(text: str, time: datetime) -> None:
    assert event({**STRUCTURED, "time": text}).time == time
    assert event(DATA, *CE, ("ce_time", text.encode())).time == time


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026-03-01",
        "2026-03-01T12:00:00",
        "2026-03-01 12:00:00Z",
        "2026-03-01T12:00Z",
        "2026-03-01T12:00:00123Z",
        "2026-03-01T12:00:00.Z",
        "2026-02-30T12:00:00Z",
        "2026-03-01T24:00:00Z",
        "2026-03-01T12:00:61Z",
        "2026-03-01T12:00:00+25:00",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "0000-01-01T00:00:00Z",
        "\u0662026-03-01T12:00:00Z",
        "2026-03-01T12:00:00Z\n",
        "20260301T120000Z",
        "2026-03-01T12:00:00." + "1" * 100_000,
    ],
)
def test_what_is_no_instant_is_bad_time(text: str) -> None:
    refused = bad({**STRUCTURED, "time": text})
    assert refused.reason is Reason.BAD_TIME
    assert refused.detail == "CloudEvents attribute time is not RFC 3339 with an offset"


@pytest.mark.parametrize(
    ("dataschema", "version"),
    [
        ("https://schemas.example/order.receipt/v2", 2),
        ("https://schemas.example/order.receipt/2", 2),
        ("https://schemas.example/order.receipt/v12.json", 12),
        ("https://schemas.example/order.receipt/v3.schema.json", 3),
        ("urn:order.receipt.4", 4),
        ("urn:order:v007", 7),
        ("https://schemas.example/order.receipt", 1),
        ("https://schemas.example/2/order", 1),
    ],
)
def test_the_schema_version_is_the_number_at_the_end(dataschema: str, version: int) -> None:
    assert event({**STRUCTURED, "dataschema": dataschema}).schema_version == version


@pytest.mark.parametrize("dataschema", ["urn:v1.2", "urn:v1.2.json", "urn:1234567890"])
def test_a_version_that_could_be_read_in_two_ways_is_malformed(dataschema: str) -> None:
    assert malformed({**STRUCTURED, "dataschema": dataschema}).endswith("in one whole number")
