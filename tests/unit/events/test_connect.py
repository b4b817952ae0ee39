"""Records of Kafka Connect and of Debezium's outbox event router, however they are configured.

The order is the one that Debezium's own documentation shows; its page prints the message in braces,
which no converter writes: on the wire it is one of the forms here.
"""

from __future__ import annotations

import json

import pytest

from consumer.events import Decoder, Format
from consumer.model import Bad, Event, Reason, Record
from tests.unit.events.records import bad, event, malformed, record, unsupported

ORDER = {
    "id": 1,
    "lineItems": [
        {"id": 1, "item": "Debezium in Action", "status": "ENTERED", "quantity": 2,
         "totalPrice": 39.98},
        {"id": 2, "item": "Debezium for Dummies", "status": "ENTERED", "quantity": 1,
         "totalPrice": 29.99},
    ],
    "orderDate": "2019-01-31T12:13:01",
    "customerId": 123,
}  # fmt: skip
TEXT = json.dumps(ORDER)
ID = "4d47e190-0402-4048-bc2c-89dd54343cdc"
STRING = {"type": "string", "optional": False, "name": "io.debezium.data.Json", "version": 1}
STRUCT = {"type": "struct", "fields": [], "optional": False}

# What the value is, by the converter that wrote it and by `table.expand.json.payload`.
VALUES = {
    "StringConverter": TEXT.encode(),
    "JsonConverter, a string": TEXT,
    "JsonConverter with schemas, a string": {"schema": STRING, "payload": TEXT},
    "JsonConverter, expanded": ORDER,
    "JsonConverter with schemas, expanded": {"schema": STRUCT, "payload": ORDER},
    "JsonConverter with schemas, none known": {"schema": None, "payload": ORDER},
}
# The type as `table.fields.additional.placement` puts it: in a header, or in the envelope.
ENVELOPES = {
    "a string": {"eventType": "OrderCreated", "payload": TEXT},
    "expanded": {"eventType": "OrderCreated", "payload": ORDER},
    "with schemas": {
        "schema": STRUCT,
        "payload": {"eventType": "OrderCreated", "payload": TEXT},
    },
}
HEADERS = {
    "SimpleHeaderConverter": (ID, "OrderCreated"),
    "JsonConverter": (json.dumps(ID), '"OrderCreated"'),
    "JsonConverter with schemas": (
        json.dumps({"schema": {"type": "string"}, "payload": ID}),
        json.dumps({"schema": {"type": "string"}, "payload": "OrderCreated"}),
    ),
}
KEYS = {"text": b"1", "JSON": b'"1"', "with schema": b'{"schema":{"type":"string"},"payload":"1"}'}

ID_ONLY = (("id", ID.encode()),)
BOTH = (*ID_ONLY, ("eventType", b"OrderCreated"))


def routed(value: object, headers: tuple[tuple[str, bytes | None], ...], key: bytes) -> Event:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    found = Decoder().decode(Record("outbox.event.order", 0, 7, 1556890294484, key, raw, headers))
    assert isinstance(found, Event), found
    return found


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("converter", HEADERS)
@pytest.mark.parametrize("value", VALUES)
def test_the_same_event_comes_out_whichever_way_the_connector_is_set(
    value: str, converter: str, key: str
) -> None:
    """Setting the connector otherwise must not change the key, or all would be sent again."""
    row, kind = HEADERS[converter]
    headers = (("id", row.encode()), ("eventType", kind.encode()))
    found = routed(VALUES[value], headers, KEYS[key])
    assert (found.type, found.data) == ("OrderCreated", ORDER)
    assert found.attributes == {"id": ID, "aggregateid": "1"}


@pytest.mark.parametrize("envelope", ENVELOPES)
def test_the_type_may_stand_in_the_envelope(envelope: str) -> None:
    found = routed(ENVELOPES[envelope], ID_ONLY, b"1")
    assert (found.type, found.data) == ("OrderCreated", ORDER)


def test_without_a_type_it_is_the_member_of_the_payload_or_the_topic() -> None:
    assert routed(ORDER, ID_ONLY, b"1").type == "outbox.event.order"
    assert routed({**ORDER, "type": "order.receipt"}, ID_ONLY, b"1").type == "order.receipt"


def test_types_that_differ_are_nobodys_guess() -> None:
    both = "headers type and eventType, or value.eventType, differ"
    assert malformed(ORDER, *BOTH, ("type", b"order.receipt")) == both
    assert malformed(ENVELOPES["expanded"], *ID_ONLY, ("eventType", b"OrderShipped")) == both
    assert malformed(ORDER, *BOTH, ("eventtype", b"OrderShipped")) == both
    assert event(ENVELOPES["expanded"], *BOTH, ("type", b"OrderCreated")).type == "OrderCreated"
    assert event(ORDER, *BOTH, *BOTH).type == "OrderCreated"


def test_our_headers_are_read_beside_the_routers() -> None:
    found = event(ORDER, *BOTH, ("idempotency-key", b"order-1"))
    assert found.carried_id == "order-1"


@pytest.mark.parametrize("key", [None, b"", b"\x00\x00\x00\x00\x01\x021", b"\xff", b"a\nb"])
def test_a_key_that_is_no_text_is_no_attribute(key: bytes | None) -> None:
    found = Decoder().decode(Record("orders", 0, 7, 1, key, TEXT.encode(), BOTH))
    assert isinstance(found, Event)
    assert found.attributes == {"id": ID}


def test_an_id_of_another_kind_is_somebody_elses_header() -> None:
    assert event(ORDER, ("id", b"\x00\x01\xff")).attributes == {}


def test_a_topic_can_be_said_to_be_an_outbox() -> None:
    """Where a transformation dropped the header `id`."""
    said = Decoder(formats={"orders": Format.DEBEZIUM})
    for value in VALUES.values():
        found = said.decode(record(value, ("eventType", b"OrderCreated")))
        assert isinstance(found, Event)
        assert (found.type, found.data) == ("OrderCreated", ORDER)
    assert unsupported(TEXT) == "value is JSON inside a JSON string"


def test_what_is_a_string_twice_is_a_mistake() -> None:
    twice = "value is JSON inside a JSON string"
    assert unsupported(json.dumps(TEXT), *ID_ONLY) == twice
    assert unsupported({"schema": STRING, "payload": json.dumps(TEXT)}) == twice


def test_the_envelope_of_connect_needs_no_router() -> None:
    assert event({"schema": STRUCT, "payload": ORDER}).data == ORDER
    structured = {"specversion": "1.0", "id": "1", "source": "s", "type": "t", "data": ORDER}
    assert event({"schema": STRUCT, "payload": structured}).data == ORDER


def test_an_envelope_of_the_producers_own_is_left_alone() -> None:
    for own in ({"schema": "v1", "payload": {}}, {"schema": {}, "payload": {}, "more": 1}):
        assert event(own).data == own
    assert event(ENVELOPES["expanded"]).data == ENVELOPES["expanded"]


def test_debeziums_own_cloud_events_carry_the_envelope_in_data() -> None:
    inside = {"specversion": "1.0", "id": "1", "source": "s", "type": "t",
              "data": {"schema": STRUCT, "payload": ORDER}}  # fmt: skip
    assert event(inside).data == ORDER


@pytest.mark.parametrize("wrap", [lambda v: v, lambda v: {"schema": STRUCT, "payload": v}])
def test_a_change_event_is_no_event_of_a_business(wrap: object) -> None:
    change = {"before": None, "after": {"id": ID}, "op": "c", "ts_ms": 1556890294484}
    assert callable(wrap)
    for headers in ((), ID_ONLY):
        why = "value is a Debezium change event: route its table as an outbox"
        assert unsupported(wrap(change), *headers) == why


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"schema": STRING, "payload": None}, "payload is null"),
        ({"eventType": "OrderCreated", "payload": None}, "payload is null"),
        ({"eventType": 7, "payload": ORDER}, "value.eventType is not a string"),
        ({"schema": STRING, "payload": "{"}, "payload is not JSON (character 1)"),
        ({"schema": STRING, "payload": '{"a": 1, "a": 2}'}, "payload has the member a twice"),
        ({"schema": STRUCT, "payload": [1]}, "value is JSON, but not an object"),
        ([TEXT], "value is JSON, but not an object"),
    ],
)
def test_what_is_malformed_says_where(value: object, why: str) -> None:
    assert malformed(value, *ID_ONLY) == why


def test_a_dead_letter_names_the_type_that_the_header_named() -> None:
    refused = bad(b"{", *ID_ONLY, ("type", b"OrderCreated"))
    assert refused == Bad(Reason.MALFORMED, "value is not JSON (character 1)", "OrderCreated")
