"""Laws of the list of members: every path of the schema, and what the rules make of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from consumer.contract import kinds
from consumer.contract.fields import Field, fields
from tests.unit.catalogue.shop import EXAMPLE, SCHEMA, open_shop

RULES = """\
topic = "orders"
entity_id = "order.id"
recipient = "to"
max_age = "90m"
sender = "shop"
time = "at"
sensitive = ["secret"]
locale = { path = "lang", default = "en-GB" }

[context]
name = "secret"
items = { path = "items", pick = ["name"] }
"""
TEXT = {"type": "string"}
SHAPE: dict[str, Any] = {
    "$schema": SCHEMA["$schema"],
    "type": "object",
    "required": ["order", "to", "at", "secret", "items"],
    "$defs": {
        "item": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {**TEXT, "maxLength": 9}, "sku": TEXT},
        }
    },
    "properties": {
        "order": {"type": "object", "required": ["id"], "properties": {"id": TEXT}},
        "to": {**TEXT, "description": "Who gets it."},
        "at": {**TEXT, "format": "date-time"},
        "lang": {"type": ["string", "null"]},
        "secret": TEXT,
        "items": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/item"}},
        "kind": {"enum": ["a", "b"]},
        "words": {"type": "array", "items": TEXT},
        "prices": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
    "allOf": [{"required": ["kind"]}],
    "anyOf": [{"properties": {"perhaps": TEXT}, "required": ["perhaps"]}, {}],
}
EVENT = {
    "order": {"id": "A-1"}, "to": "ada@example.com", "at": "2026-03-01T12:00:00Z", "secret": "s",
    "items": [{"name": "Mug", "sku": "M1"}], "kind": "a",
}  # fmt: skip


def listed(tmp_path: Path) -> dict[str, Field]:
    changes: dict[str, str | None] = {
        "note/mail.toml": RULES,
        "note/v1.schema.json": json.dumps(SHAPE),
        "note/examples/one.json": json.dumps({"type": "note", **EVENT}),
        "note/subject.j2": "{{ name }}{% for item in items %}{{ item.name }}{% endfor %}",
        "note/body.txt.j2": "{{ name }}",
        "note/body.html.j2": "{{ name }}",
    }
    [kind] = kinds(open_shop(tmp_path, changes))
    return {field.path: field for field in fields(kind, 1)}


def test_every_member_is_listed_once_whatever_the_shape(tmp_path: Path) -> None:
    assert list(listed(tmp_path)) == [
        "order", "order.id", "to", "at", "lang", "secret", "items", "items[].name", "items[].sku",
        "kind", "words", "words[]", "prices", "prices.*", "perhaps",
    ]  # fmt: skip


def test_required_is_what_is_always_there_in_its_object(tmp_path: Path) -> None:
    """A branch that may not hold requires nothing; `allOf` always holds."""
    found = listed(tmp_path)
    assert found["items[].name"].required
    assert found["kind"].required
    assert not found["lang"].required
    assert not found["items[].sku"].required
    assert not found["perhaps"].required


def test_what_the_rules_make_of_a_member_is_told(tmp_path: Path) -> None:
    found = listed(tmp_path)
    assert found["order.id"].uses == ("the key",)
    assert found["to"].uses == ("the recipient, and the key",)
    assert found["at"].uses == ("the event's age",)
    assert found["secret"].uses == ("secret: masked, never logged", "the mail")
    assert found["lang"].uses == ("the mail's language (without it: en-GB)",)
    assert found["items[].name"].uses == ("the mail",)
    assert found["items[].sku"].uses == ()
    assert found["kind"].uses == ()


def test_type_limits_meaning_and_example_are_those_of_schema_and_examples(tmp_path: Path) -> None:
    found = listed(tmp_path)
    assert found["lang"].type == "string or null"
    assert found["items[].name"].limits == "at most 9 characters"
    assert found["items"].limits == "at least 1 elements"
    assert found["kind"].limits == 'one of "a", "b"'
    assert found["to"].meaning == "Who gets it."
    assert found["items[].name"].example == "Mug"
    assert found["items"].example == ""


def test_a_schema_that_refers_to_itself_ends(tmp_path: Path) -> None:
    again = {**SCHEMA, "properties": {**SCHEMA["properties"], "extra": {"$ref": "#"}}}
    changes: dict[str, str | None] = {
        "note/v1.schema.json": json.dumps(again),
        "note/examples/one.json": json.dumps(EXAMPLE),
    }
    [kind] = kinds(open_shop(tmp_path, changes))
    assert fields(kind, 1)
