"""Plain JSON: the object is the data, and its type is found by a written order."""

from __future__ import annotations

import pytest

from consumer.events import decode
from consumer.model import Event, Skipped, SkipRule
from tests.unit.events.records import DATA, KEY, bad, event, malformed, record, unsupported


def test_a_tombstone_is_skipped_by_rule_whatever_its_headers() -> None:
    for headers in ((), (("sendonce-key", b"no key"),)):
        assert decode(record(None, *headers)) == Skipped(SkipRule.TOMBSTONE)


def test_the_whole_object_is_the_data() -> None:
    assert event(DATA) == Event("orders", DATA)
    assert event(b"{}") == Event("orders", {})


def test_the_type_is_the_headers_then_the_members_then_the_default() -> None:
    typed = {**DATA, "type": "from.member"}
    assert event(typed, ("type", b"from.header")).type == "from.header"
    assert event(typed).type == "from.member"
    assert event({**DATA, "type": None}).type == "orders"
    assert event(DATA, topic="order.receipt").type == "order.receipt"
    given = decode(record(DATA), "given")
    assert isinstance(given, Event)
    assert given.type == "given"


@pytest.mark.parametrize("value", [3, True, [], {}, "", " x", "a\nb", "x" * 256])
def test_a_member_type_that_names_nothing_is_malformed_not_passed_over(value: object) -> None:
    assert malformed({"type": value}).startswith("value.type ")


@pytest.mark.parametrize(
    ("value", "detail"),
    [
        (b"", "value is empty"),
        (b"null", "value is JSON, but not an object"),
        (b"[]", "value is JSON, but not an object"),
        (b"3", "value is JSON, but not an object"),
        (b'"text"', "value is JSON, but not an object"),
        (b"\xff\xfe", "value is UTF-16; only UTF-8 is read"),
        ('{"a":1}'.encode("utf-16"), "value is UTF-16; only UTF-8 is read"),
        ('{"a":1}'.encode("utf-16-le"), "value is UTF-16; only UTF-8 is read"),
        ('{"a":1}'.encode("utf-16-be"), "value is UTF-16; only UTF-8 is read"),
        (b"\x80", "value is not UTF-8 (byte 0)"),
        (b'{"a":1', "value is not JSON (character 6)"),
        (b'{"a":1,"a":2}', "value has the member a twice"),
    ],
)
def test_malformed(value: bytes, detail: str) -> None:
    assert malformed(value) == detail


@pytest.mark.parametrize(
    ("value", "detail"),
    [
        (b"\x00\x00\x00\x00\x07\x02\x06abc", "value is the Confluent wire format (magic byte 0)"),
        (b"Obj\x01\x04\x16", "value is an Avro container"),
        (b"\x1f\x8b\x08\x00", "value is gzip inside the record"),
        (b"\x28\xb5\x2f\xfd\x00", "value is zstd inside the record"),
        (b'"{\\"a\\":1}"', "value is JSON inside a JSON string"),
        (
            {"before": None, "after": {}, "op": "c", "ts_ms": 1},
            "value is a Debezium change event: route its table as an outbox",
        ),
    ],
)
def test_formats_that_are_known_and_not_read(value: object, detail: str) -> None:
    assert unsupported(value) == detail


def test_a_content_type_counts_only_where_the_content_is_not_json() -> None:
    assert event(DATA, ("content-type", b"application/octet-stream")).data == DATA
    assert unsupported(b"<a/>", ("content-type", b"application/xml; charset=utf-8"))
    assert malformed(b"<a/>", ("content-type", b"application/vnd.x+json"))
    assert malformed(b"<a/>", ("content-type", None))


def test_a_byte_order_mark_changes_nothing() -> None:
    with_mark = b"\xef\xbb\xbf" + (record(DATA).value or b"")
    assert event(with_mark) == event(DATA)


def test_what_is_refused_still_names_type_and_key_where_the_headers_did() -> None:
    refused = bad(b"{", ("type", b"order.receipt"), ("sendonce-key", KEY.encode()))
    assert (refused.event_type, refused.idempotency_key) == ("order.receipt", KEY)
