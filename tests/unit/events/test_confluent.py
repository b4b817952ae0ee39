"""Records that Confluent's own serializers write, read with what its registry says of them."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from confluent_kafka.schema_registry import Schema as Registered
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from consumer.events import Decoder, Format
from consumer.model import Bad, Event, NeedsSchema, NoSchema, Reason, Schema
from tests.unit.events.records import CE, DATA, record, unsupported

ORDERS = SerializationContext("orders", MessageField.VALUE)
JSON_SCHEMA = {"title": "Order", "type": "object", "properties": {"order_id": {"type": "string"}}}
AVRO_SCHEMA = {
    "type": "record",
    "name": "shop.Order",
    "fields": [
        {"name": "order_id", "type": "string"},
        {"name": "total", "type": {"type": "record", "name": "Money", "fields": [
            {"name": "amount_minor", "type": "long"}, {"name": "currency", "type": "string"}]}},
        {"name": "note", "type": ["null", "string"], "default": None},
    ],
}  # fmt: skip
ORDER = {"order_id": "A-1", "total": {"amount_minor": 1999, "currency": "EUR"}, "note": None}


@pytest.fixture
def registry() -> SchemaRegistryClient:
    return SchemaRegistryClient.new_client({"url": "mock://"})


def known(registry: SchemaRegistryClient, *numbers: int) -> dict[int, Schema | NoSchema]:
    """Return what the registry has by now, as our client would remember it."""
    return {n: _schema(registry.get_schema(n)) for n in numbers}


def _schema(held: Registered) -> Schema:
    assert held.schema_str is not None
    return Schema(held.schema_type or "AVRO", held.schema_str)


def avro(registry: SchemaRegistryClient, order: Mapping[str, object]) -> bytes:
    value = AvroSerializer(registry, json.dumps(AVRO_SCHEMA))(order, ORDERS)
    assert isinstance(value, bytes)
    return value


def with_json(registry: SchemaRegistryClient, order: Mapping[str, object]) -> bytes:
    value = JSONSerializer(json.dumps(JSON_SCHEMA), registry)(dict(order), ORDERS)
    assert isinstance(value, bytes)
    return value


def test_json_schema(registry: SchemaRegistryClient) -> None:
    value = with_json(registry, DATA)
    found = Decoder(known(registry, 1)).decode(record(value))
    assert isinstance(found, Event)
    assert (found.type, found.data) == ("orders", DATA)


def test_avro(registry: SchemaRegistryClient) -> None:
    found = Decoder(known_after(registry)).decode(record(avro(registry, ORDER)))
    assert isinstance(found, Event)
    assert (found.type, found.data) == ("orders", ORDER)


def known_after(registry: SchemaRegistryClient) -> dict[int, Schema | NoSchema]:
    avro(registry, ORDER)
    return known(registry, 1)


def test_a_schema_that_is_not_known_is_asked_for_and_changes_nothing_else(
    registry: SchemaRegistryClient,
) -> None:
    """Decoding is pure: the same record and the same schemas give the same answer, each time."""
    value = record(avro(registry, ORDER))
    schemas: dict[int, Schema | NoSchema] = {}
    decoder = Decoder(schemas)
    assert decoder.decode(value) == decoder.decode(value) == NeedsSchema(1)
    schemas |= known(registry, 1)
    assert isinstance(decoder.decode(value), Event)
    schemas[1] = NoSchema()
    assert decoder.decode(value) == Bad(Reason.UNSUPPORTED_FORMAT, "the registry has no schema 1")


def test_the_event_type_is_named_as_elsewhere(registry: SchemaRegistryClient) -> None:
    value = with_json(registry, {"type": "order.receipt"})
    decoder = Decoder(known(registry, 1))
    member, header = decoder.decode(record(value)), decoder.decode(record(value, ("type", b"x.y")))
    assert isinstance(member, Event)
    assert isinstance(header, Event)
    assert (member.type, header.type) == ("order.receipt", "x.y")


def test_cloud_events_in_binary_mode_may_have_such_a_value(registry: SchemaRegistryClient) -> None:
    found = Decoder(known_after(registry)).decode(record(avro(registry, ORDER), *CE))
    assert isinstance(found, Event)
    assert (found.type, found.data) == ("order.receipt", ORDER)


def test_a_connector_may_have_written_the_outbox_so(registry: SchemaRegistryClient) -> None:
    """Connect's Avro converter, of a payload that was not expanded: a string in Avro."""
    value = AvroSerializer(registry, '"string"')(json.dumps(DATA), ORDERS)
    headers = (("id", b"4d47e190"), ("eventType", b"OrderCreated"))
    found = Decoder(known(registry, 1)).decode(record(value, *headers))
    assert isinstance(found, Event)
    assert (found.type, found.data) == ("OrderCreated", DATA)


def test_protobuf_is_not_read() -> None:
    found = Decoder({1: Schema("PROTOBUF", "syntax")}).decode(record(b"\0\0\0\0\1\0abc"))
    assert found == Bad(Reason.UNSUPPORTED_FORMAT, "schema 1 is protobuf, which is not read")


def test_a_schema_that_a_header_names_is_not_looked_for(registry: SchemaRegistryClient) -> None:
    """With JSON Schema it is plain JSON; of Avro, it is said what is missing."""
    header = ("__value_schema_id", b"\1" + bytes(16))
    plain = Decoder({}).decode(record(DATA, header))
    assert isinstance(plain, Event)
    assert plain.data == DATA
    told = unsupported(avro(registry, ORDER)[5:], header)
    assert told.startswith("value is written with a schema that a header names")


def test_without_a_registry_it_is_told_what_it_is() -> None:
    assert "Confluent wire format" in unsupported(b'\0\0\0\0\1{"a":1}')


def test_a_topic_that_is_said_to_hold_it_gives_its_json_without_a_registry() -> None:
    said = Decoder(formats={"orders": Format.CONFLUENT})
    found = said.decode(record(b'\0\0\0\0\1{"a":1}'))
    assert isinstance(found, Event)
    assert found.data == {"a": 1}
    of_avro = said.decode(record(b"\0\0\0\0\1\x06abc"))
    assert isinstance(of_avro, Bad)
    assert of_avro.reason is Reason.UNSUPPORTED_FORMAT
    assert "[registry] url" in of_avro.detail
    bare = said.decode(record(b'{"a":1}'))
    assert isinstance(bare, Bad)
    assert (bare.reason, bare.detail) == (
        Reason.MALFORMED,
        "value has no schema's id before it, as its topic's have",
    )


@pytest.mark.parametrize("value", [b'{"a":1}', b'\xef\xbb\xbf{"a":1}', b'{"type":"t"}'])
def test_with_a_registry_plain_json_stays_plain_json(value: bytes) -> None:
    assert Decoder({}).decode(record(value)) == Decoder().decode(record(value))


@pytest.mark.parametrize("value", [b"\0", b"\0\0\0\0", b"\0{\0}\0", '{"a":1}'.encode("utf-16-be")])
def test_a_zero_byte_alone_is_no_schemas_id(value: bytes) -> None:
    found = Decoder({}).decode(record(value))
    assert isinstance(found, Bad)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (b'{"a":1', "value is not JSON (character 6)"),
        (b'{"a":1,"a":2}', "value has the member a twice"),
        (b"[]", "value is JSON, but not an object"),
    ],
)
def test_json_behind_the_id_is_read_as_strictly_as_any(value: bytes, why: str) -> None:
    found = Decoder({1: Schema("JSON", "{}")}).decode(record(b"\0\0\0\0\1" + value))
    assert found == Bad(Reason.MALFORMED, why)
