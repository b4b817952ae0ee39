"""Laws of comparing schemas: nothing is narrower than itself, and references are looked through."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from consumer.catalogue.narrowing import narrowed
from tests.unit.catalogue.shop import ROOT

SHIPPED = sorted((ROOT / "schemas").glob("*/v*.schema.json"))

TREE: dict[str, Any] = {
    "type": "object",
    "required": ["item"],
    "properties": {"item": {"$ref": "#/$defs/item"}, "price": {"$ref": "#/$defs/a~1b"}},
    "$defs": {
        "item": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "parts": {"type": "array", "items": {"$ref": "#/$defs/item"}},
            },
        },
        "a/b": {"type": "integer", "minimum": 0},
    },
}


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.parent.name)
def test_no_schema_is_narrower_than_itself(file: Path) -> None:
    document = json.loads(file.read_bytes())
    assert narrowed(document, copy.deepcopy(document)) == []


def test_a_schema_that_refers_to_itself_comes_to_an_end() -> None:
    assert narrowed(TREE, copy.deepcopy(TREE)) == []


def changed(change: Callable[[Any], object]) -> list[str]:
    new = copy.deepcopy(TREE)
    change(new["$defs"])
    return narrowed(TREE, new)


def test_what_a_reference_leads_to_is_compared() -> None:
    found = changed(lambda defs: defs["item"].update(required=["name"]))
    assert found[0] == "/item/name: is required"
    assert changed(lambda defs: defs["a/b"].update(minimum=1)) == ["/price: minimum is 1"]
    assert changed(lambda defs: defs["a/b"].pop("minimum")) == []


def test_a_reference_may_be_written_out() -> None:
    new = copy.deepcopy(TREE)
    new["properties"]["price"] = new["$defs"].pop("a/b")
    assert narrowed(TREE, new) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (True, False, "/: nothing is allowed there any more"),
        ({"enum": [1, "a"]}, {"const": 1}, "/: a value that was allowed is not any more"),
        ({"const": 1}, {"enum": [1, 2]}, None),
        ({}, {"enum": [1]}, "/: only certain values are allowed by now"),
        ({"type": "integer"}, {"type": "number"}, None),
        ({"type": "number"}, {"type": "integer"}, "/: may not be number any more"),
        ({"properties": {"a": {}}}, {"additionalProperties": False}, "/a: nothing is allowed"),
        ({"additionalProperties": False}, {}, None),
        ({"items": {"type": "string"}}, {"items": {"type": ["string", "null"]}}, None),
        ({}, {"items": {"type": "string"}}, "/0: may not be "),
        ({"exclusiveMinimum": 0}, {"exclusiveMinimum": -1}, None),
        ({"maxLength": 5}, {"maxLength": 4}, "/: maxLength is 4"),
        ({"not": {"const": 1}}, {}, None),
        ({"oneOf": [{}]}, {"oneOf": [{}, {"const": 1}]}, "/: oneOf is another one"),
        ({"uniqueItems": True}, {"uniqueItems": False}, None),
    ],
)
def test_what_is_narrower(old: Any, new: Any, told: str | None) -> None:
    found = narrowed(old, new)
    assert (found == []) if told is None else any(told in one for one in found), found
