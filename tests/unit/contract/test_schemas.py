"""Laws of the translation to AsyncAPI's dialect: it admits what the schema admits."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema_rs import Draft7Validator, Draft202012Validator

from consumer.contract.schemas import translated

ROOT = "#/components/schemas/note.v1"

# A schema of 2020-12, events that it admits, and events that it does not.
CASES: dict[str, tuple[dict[str, Any], list[Any], list[Any]]] = {
    "definitions": (
        {"properties": {"to": {"$ref": "#/$defs/who"}}, "$defs": {"who": {"type": "string"}}},
        [{"to": "ada"}],
        [{"to": 1}],
    ),
    "a reference into the schema itself": (
        {"properties": {"a": {"type": "integer"}, "b": {"$ref": "#/properties/a"}}},
        [{"b": 1}],
        [{"b": "1"}],
    ),
    "the schema itself, again": (
        {"type": "object", "properties": {"inner": {"$ref": "#"}}},
        [{"inner": {"inner": {}}}],
        [{"inner": {"inner": 1}}],
    ),
    "what stands beside a reference": (
        {
            "$defs": {"text": {"type": "string"}},
            "properties": {"a": {"$ref": "#/$defs/text", "maxLength": 2}},
        },
        [{"a": "ab"}],
        [{"a": "abc"}, {"a": 1}],
    ),
    "the first elements": (
        {"properties": {"a": {"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}}},
        [{"a": ["x", 1]}],
        [{"a": ["x", "y"]}, {"a": [1]}],
    ),
    "what depends on a member": (
        {
            "dependentRequired": {"a": ["b"]},
            "dependentSchemas": {"a": {"properties": {"b": {"type": "integer"}}}},
        },
        [{"a": 1, "b": 1}, {"b": "x"}],
        [{"a": 1}, {"a": 1, "b": "x"}],
    ),
    "a member that is named like a word": (
        {"properties": {"prefixItems": {"type": "string"}, "$defs": {"type": "string"}}},
        [{"prefixItems": "x"}],
        [{"prefixItems": 1}, {"$defs": 1}],
    ),
    "branches": (
        {"anyOf": [{"required": ["a"]}, {"not": {"required": ["b"]}}]},
        [{"a": 1, "b": 1}, {}],
        [{"b": 1}],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_translation_admits_and_refuses_the_same(case: str) -> None:
    schema, good, bad = CASES[case]
    before, after = Draft202012Validator(schema), _validator(schema)
    for event in good:
        assert before.is_valid(event)
        assert after.is_valid(event), event
    for event in bad:
        assert not before.is_valid(event)
        assert not after.is_valid(event), event


def _validator(schema: dict[str, Any]) -> Draft7Validator:
    """Put the translation where it stands in the document, and validate against that place."""
    whole = {"components": {"schemas": {"note.v1": translated(schema, ROOT)}}, "$ref": ROOT}
    return Draft7Validator(whole)


def test_what_only_2020_12_has_a_word_for_is_not_lost_to_the_reader() -> None:
    said = translated({"unevaluatedProperties": False, "$schema": "x", "$id": "y"}, ROOT)
    assert said == {"unevaluatedProperties": False}
