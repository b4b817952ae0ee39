"""Avro to JSON: logical types, what JSON has no word for, and schemas that nobody could bear."""

from __future__ import annotations

import io
import json
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consumer.events import avro
from consumer.model import Bad, Json, Reason, Schema


def written(schema: Any, value: Any) -> bytes:
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(schema), value)
    return stream.getvalue()


def read(schema: Any, value: Any) -> Json | Bad:
    return avro.read(written(schema, value), Schema("AVRO", json.dumps(schema)), 7)


def logical(base: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"type": base, "logicalType": kind, **more}


MONEY = logical("bytes", "decimal", precision=12, scale=2)
NOON = datetime(2026, 3, 1, 12, 0, 0, 250000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("schema", "value", "becomes"),
    [
        (MONEY, Decimal("12.50"), "12.50"),
        (MONEY, Decimal("-0.05"), "-0.05"),
        (MONEY, Decimal("9999999999.99"), "9999999999.99"),
        (logical("bytes", "decimal", precision=4, scale=0), Decimal(1200), "1200"),
        (logical("fixed", "decimal", name="m", size=8, precision=9, scale=3), Decimal("1.5"),
         "1.500"),
        (logical("long", "timestamp-millis"), NOON, "2026-03-01T12:00:00.25Z"),
        (logical("long", "timestamp-micros"), NOON, "2026-03-01T12:00:00.25Z"),
        (logical("long", "timestamp-micros"), NOON.replace(microsecond=0), "2026-03-01T12:00:00Z"),
        (logical("long", "timestamp-millis"), NOON.astimezone(timezone(timedelta(hours=2))),
         "2026-03-01T12:00:00.25Z"),
        (logical("long", "local-timestamp-millis"), NOON.replace(tzinfo=None),
         "2026-03-01T12:00:00.25"),
        (logical("int", "date"), date(2026, 3, 1), "2026-03-01"),
        (logical("int", "time-millis"), time(12, 0, 0, 250000), "12:00:00.25"),
        (logical("long", "time-micros"), time(12, 0), "12:00:00"),
        (logical("string", "uuid"), UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (logical("long", "timestamp-nanos"), 1_772_366_400_250_000_000, 1_772_366_400_250_000_000),
        ("bytes", b"\x00\xff", "AP8="),
        ({"type": "fixed", "name": "f", "size": 2}, b"ab", "YWI="),
        ({"type": "enum", "name": "e", "symbols": ["A", "B"]}, "B", "B"),
        (["null", "string"], None, None),
        (["null", "string"], "x", "x"),
        ({"type": "map", "values": "long"}, {"a": 1}, {"a": 1}),
        ({"type": "array", "items": MONEY}, [Decimal("1.00")], ["1.00"]),
        ("long", 2**62, 2**62),
        ("double", 0.1, 0.1),
    ],
)  # fmt: skip
def test_what_avro_holds_is_what_json_says(schema: Any, value: Any, becomes: Json) -> None:
    assert read(schema, value) == becomes


@given(st.decimals(-(10**9), 10**9, places=2))
def test_money_is_exact(amount: Decimal) -> None:
    assert read(MONEY, amount) == f"{amount:.2f}"


@pytest.mark.parametrize(
    ("schema", "value", "why"),
    [
        ("double", float("nan"), "value is not what its Avro schema says (read with schema 7)"),
        ("float", float("inf"), "value is not what its Avro schema says (read with schema 7)"),
        ("string", "a\0b", "value holds a NUL character (read with schema 7)"),
        ({"type": "map", "values": "string"}, {"name": "\0"},
         "value.name holds a NUL character (read with schema 7)"),
    ],
)  # fmt: skip
def test_what_json_cannot_hold_is_malformed(schema: Any, value: Any, why: str) -> None:
    assert read(schema, value) == Bad(Reason.MALFORMED, why)


ORDER = {"type": "record", "name": "O", "fields": [{"name": "a", "type": "string"}]}


@pytest.mark.parametrize("cut", range(4))
def test_bytes_that_end_too_early_or_too_late_are_malformed(cut: int) -> None:
    """Read with another schema than it was written with, a value rarely fits to the byte."""
    value, schema = written(ORDER, {"a": "xyz"}), Schema("AVRO", json.dumps(ORDER))
    found = avro.read(value[:cut], schema, 7)
    assert isinstance(found, Bad)
    longer = avro.read(value + b"\0", schema, 7)
    assert isinstance(longer, Bad)
    assert (found.reason, longer.reason) == (Reason.MALFORMED, Reason.MALFORMED)


@given(st.binary(max_size=60))
def test_no_bytes_raise(value: bytes) -> None:
    schema = {"type": "record", "name": "R", "fields": [
        {"name": "a", "type": ["null", "string", MONEY]},
        {"name": "b", "type": {"type": "array", "items": "double"}},
        {"name": "c", "type": logical("long", "timestamp-micros")},
        {"name": "d", "type": {"type": "enum", "name": "E", "symbols": ["X"]}},
    ]}  # fmt: skip
    avro.read(value, Schema("AVRO", json.dumps(schema)), 7)


LIST = {"type": "record", "name": "L", "fields": [{"name": "next", "type": ["null", "L"]}]}
EMPTY = {"type": "record", "name": "E", "fields": []}


@pytest.mark.parametrize(
    "schema",
    [
        LIST,
        {"type": "record", "name": "T", "fields": [
            {"name": "all", "type": {"type": "array", "items": "T"}}]},
        {"type": "record", "name": "M", "fields": [
            {"name": "all", "type": {"type": "map", "values": "M"}}]},
        {"type": "array", "items": "null"},
        {"type": "array", "items": EMPTY},
        {"type": "array", "items": {"type": "fixed", "name": "z", "size": 0}},
        {"type": "nonsense"},
        {},
    ],
)  # fmt: skip
def test_a_schema_whose_values_have_no_end_is_not_read(schema: Any) -> None:
    """The library is in C: deep enough, it would take the process with it."""
    found = avro.read(b"\x02" * 900_000 + b"\0", Schema("AVRO", json.dumps(schema)), 7)
    assert found == Bad(Reason.UNSUPPORTED_FORMAT, "schema 7 is none that can be read")


def test_what_a_schema_refers_to_is_given_beside_it() -> None:
    line = {"type": "record", "name": "shop.Line", "fields": [{"name": "title", "type": "string"}]}
    order = {"type": "record", "name": "shop.Order", "fields": [
        {"name": "lines", "type": {"type": "array", "items": "shop.Line"}}]}  # fmt: skip
    value = b"\x02\x06Tea\x00"
    found = avro.read(value, Schema("AVRO", json.dumps(order), (json.dumps(line),)), 7)
    assert found == {"lines": [{"title": "Tea"}]}
    alone = avro.read(value, Schema("AVRO", json.dumps(order)), 7)
    assert isinstance(alone, Bad)


def test_a_schema_of_one_word_needs_no_quotes() -> None:
    assert avro.read(b"\x02a", Schema("AVRO", "string"), 7) == "a"


def test_without_the_extra_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(avro, "fastavro", None)
    found = avro.read(b"\x02a", Schema("AVRO", "string"), 7)
    why = "value is Avro, and this installation is without the extra `avro`"
    assert found == Bad(Reason.UNSUPPORTED_FORMAT, why)
