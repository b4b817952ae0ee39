"""Laws of the AsyncAPI document; that it is one, its own parser says (`integration/contract`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft7Validator

from consumer.contract import document, kinds
from consumer.contract.asyncapi import House
from consumer.contract.kinds import lasting
from consumer.contract.outcomes import EXAMPLE, MEANINGS, SCHEMA
from consumer.endings import encode
from consumer.events import decode
from consumer.model import Coordinates, Event, Outcome, OutcomeStatus, Record
from tests.unit.catalogue.shop import MAIL, open_shop, real_catalogue
from tests.unit.catalogue.shop import SCHEMA as NOTE

CLOUD = {
    "specversion": "1.0", "id": "1", "source": "/shop", "type": "note",
    "data": {"id": "N1", "to": "ada@example.com", "name": "Ada"},
}  # fmt: skip


def of_shop(tmp_path: Path, changes: dict[str, str | None] | None = None) -> dict[str, Any]:
    return document(kinds(open_shop(tmp_path, changes or {})), House())


def test_one_catalogue_is_one_document() -> None:
    whole = document(kinds(real_catalogue()), House())
    assert whole == document(kinds(real_catalogue()), House())
    assert {"order.receipt", "password.reset"} <= whole["operations"].keys()


def test_every_event_that_the_document_shows_is_read(tmp_path: Path) -> None:
    """An example is published with the headers beside it, and decodes to the operation's type."""
    examples: dict[str, str | None] = {"note/examples/cloud.json": json.dumps(CLOUD)}
    whole = of_shop(tmp_path, examples)
    messages = [m for name, m in whole["components"]["messages"].items() if name != "outcome"]
    shown = [example for message in messages for example in message["examples"]]
    assert len(shown) == 3
    for example in shown:
        headers = tuple((n, text.encode()) for n, text in example.get("headers", {}).items())
        value = json.dumps(example["payload"]).encode()
        event = decode(Record("orders", 0, 0, 0, None, value, headers))
        assert isinstance(event, Event)
        assert event.type == "note"


def test_every_example_is_what_its_message_says() -> None:
    """Its payload and its headers, by the schemas as they stand in the document."""
    whole = document(kinds(real_catalogue()), House())
    for name, message in whole["components"]["messages"].items():
        for example in message["examples"]:
            for part in ("payload", "headers") if "headers" in example else ("payload",):
                here = {**whole, "$ref": f"#/components/messages/{name}/{part}"}
                assert Draft7Validator(here).is_valid(example[part]), (name, part, example["name"])


def test_each_form_says_where_the_type_stands(tmp_path: Path) -> None:
    messages = of_shop(tmp_path)["components"]["messages"]
    assert messages["note.v1"]["payload"]["allOf"][1]["required"] == ["type"]
    assert messages["note.v1.cloudevent"]["payload"]["properties"]["type"]["const"] == "note"
    assert "ce_type" in messages["note.v1.cloudevent-binary"]["headers"]["required"]


def test_a_schema_that_has_no_room_for_a_type_takes_it_from_a_header(tmp_path: Path) -> None:
    closed: dict[str, str | None] = {
        "note/v1.schema.json": json.dumps({**NOTE, "additionalProperties": False}),
        "note/examples/one.json": json.dumps(CLOUD),
    }
    plain = of_shop(tmp_path, closed)["components"]["messages"]["note.v1"]
    assert plain["headers"]["required"] == ["type"]
    assert plain["payload"] == {"$ref": "#/components/schemas/note.v1"}


def test_where_the_topic_names_the_type_no_event_has_to(tmp_path: Path) -> None:
    named: dict[str, str | None] = {"note/mail.toml": MAIL.replace('"orders"', '"note"')}
    plain = of_shop(tmp_path, named)["components"]["messages"]["note.v1"]
    assert "required" not in plain["payload"]["allOf"][1]


def test_what_reads_the_envelope_has_no_plain_form(tmp_path: Path) -> None:
    rules: dict[str, str | None] = {
        "note/mail.toml": MAIL.replace('"id"', '["@source", "id"]'),
        "note/examples/one.json": json.dumps(CLOUD),
    }
    messages = of_shop(tmp_path, rules)["components"]["messages"]
    assert set(messages) == {"note.v1.cloudevent", "note.v1.cloudevent-binary", "outcome"}


def test_a_second_version_is_told_by_dataschema(tmp_path: Path) -> None:
    second: dict[str, str | None] = {"note/v2.schema.json": json.dumps(NOTE)}
    messages = of_shop(tmp_path, second)["components"]["messages"]
    assert "note.v2" not in messages
    envelope = messages["note.v2.cloudevent"]["payload"]
    assert "dataschema" in envelope["required"]


def test_the_configuration_names_servers_and_outcomes(tmp_path: Path) -> None:
    known = kinds(open_shop(tmp_path))
    whole = document(known, House(["kafka:9092"], encrypted=True, outcomes="email.outcomes"))
    assert whole["servers"]["kafka-1"] == {"host": "kafka:9092", "protocol": "kafka-secure"}
    assert whole["channels"]["email.outcomes"]["address"] == "email.outcomes"
    assert set(document(known, House(outcomes=None))["operations"]) == {"note"}
    assert document(known, House())["channels"]["_outcomes"]["address"] is None


@pytest.mark.parametrize("form", ["auto", "confluent", "debezium"])
def test_a_topic_of_another_format_says_so(tmp_path: Path, form: str) -> None:
    whole = document(kinds(open_shop(tmp_path)), House(formats={"orders": form}))
    told = whole["channels"]["orders"].get("description", "")
    assert (form == "auto") == (told == "")


def test_the_outcome_schema_is_the_outcome_record() -> None:
    outcome = Outcome(OutcomeStatus.SENT, Coordinates("orders", 0, 1, 2), entity_id="A-1")
    _, value = encode(outcome)
    assert json.loads(value).keys() == SCHEMA["properties"].keys() == EXAMPLE.keys()
    assert set(MEANINGS) == set(OutcomeStatus)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(86_400, "1 day"), (7 * 86_400, "7 days"), (5400, "90 minutes"), (30, "30 seconds")],
)
def test_ages_are_said_in_their_largest_whole_unit(seconds: float, said: str) -> None:
    assert lasting(seconds) == said
