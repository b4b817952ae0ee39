"""One event, published in every format that is read: one key, one fingerprint, one mail."""

from __future__ import annotations

import io
import json
from pathlib import Path

import fastavro
import pytest

from consumer.catalogue import Catalogue
from consumer.events import Decoder
from consumer.model import Event, Mail, Record, Schema
from tests.unit.catalogue.shop import MAIL, NOW, open_shop

ORDER = {"id": "N1", "to": "ada@example.com", "name": "Ada"}
TEXT = json.dumps(ORDER)
OUTBOX = (("id", b"4d47e190"), ("eventType", b"note"))
TYPE = (("type", b"note"),)
CE = {"specversion": "1.0", "id": "4d47e190", "source": "/shop", "type": "note",
      "aggregateid": "N1"}  # fmt: skip
AVRO = {"type": "record", "name": "Note",
        "fields": [{"name": name, "type": "string"} for name in ORDER]}  # fmt: skip
SCHEMAS = {1: Schema("AVRO", json.dumps(AVRO)), 2: Schema("JSON", "{}")}


def avro() -> bytes:
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, fastavro.parse_schema(AVRO), ORDER)
    return b"\0\0\0\0\1" + stream.getvalue()


RECORDS: dict[str, tuple[bytes, tuple[tuple[str, bytes], ...]]] = {
    "plain JSON": (TEXT.encode(), TYPE),
    "CloudEvents, structured": (json.dumps({**CE, "data": ORDER}).encode(), ()),
    "CloudEvents, binary": (
        TEXT.encode(),
        tuple((f"ce_{name}", value.encode()) for name, value in CE.items()),
    ),
    "Connect": (json.dumps({"schema": None, "payload": ORDER}).encode(), TYPE),
    "outbox, expanded": (TEXT.encode(), OUTBOX),
    "outbox, a string": (json.dumps(TEXT).encode(), OUTBOX),
    "outbox, in Connect's envelope": (
        json.dumps({"schema": {"type": "string"}, "payload": TEXT}).encode(),
        OUTBOX,
    ),
    "outbox, type in the envelope": (
        json.dumps({"eventType": "note", "payload": TEXT}).encode(),
        OUTBOX[:1],
    ),
    "Confluent, Avro": (avro(), TYPE),
    "Confluent, JSON Schema": (b"\0\0\0\0\2" + TEXT.encode(), TYPE),
    "outbox, in Avro": (avro(), OUTBOX),
}


@pytest.fixture
def shop(tmp_path: Path) -> Catalogue:
    return open_shop(tmp_path)


def mail(catalogue: Catalogue, name: str) -> Mail:
    value, headers = RECORDS[name]
    record = Record("orders", 0, 7, NOW, b"N1", value, headers)
    event = Decoder(SCHEMAS).decode(record)
    assert isinstance(event, Event), event
    found = catalogue.read(record, event)
    assert isinstance(found, Mail), found
    return found


@pytest.mark.parametrize("name", RECORDS)
def test_the_format_is_no_part_of_the_mail(shop: Catalogue, name: str) -> None:
    """A producer may change its serializer or its connector: nothing is sent again."""
    plain, other = mail(shop, "plain JSON"), mail(shop, name)
    assert (other.key, other.fingerprint) == (plain.key, plain.fingerprint)
    assert shop.render(other) == shop.render(plain)


@pytest.mark.parametrize("name", [name for name in RECORDS if name.startswith("outbox")])
def test_the_aggregates_id_may_be_the_entity(tmp_path: Path, name: str) -> None:
    """The folder's example, which has no headers and no key, is written as a CloudEvent."""
    catalogue = open_shop(
        tmp_path,
        {
            "note/mail.toml": MAIL.replace('entity_id = "id"', 'entity_id = "@aggregateid"'),
            "note/examples/one.json": json.dumps({**CE, "data": ORDER}),
        },
    )
    found, example = mail(catalogue, name), mail(catalogue, "CloudEvents, structured")
    assert (found.entity_id, found.key) == ("N1", example.key)
