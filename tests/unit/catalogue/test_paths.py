"""The path language, and what a JSON Schema is known to promise about a path."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consumer.catalogue.paths import MISSING, Found, parse_path, parse_source
from consumer.catalogue.schema import Known, compile_schema
from consumer.model import Event

DATA: Any = {
    "order": {"id": 7, "lines": [{"sku": "A"}, {"sku": "B"}], "none": None},
    "odd name": {"a.b": 1},
    "@id": 2,
    "größe": 3,
}
EVENT = Event("x", DATA, {"source": "shop-1"})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("order.id", 7),
        ("order.lines[1].sku", "B"),
        ("order.lines[2].sku", MISSING),
        ("order.none", None),
        ("order.none.deeper", MISSING),
        ("order.id.deeper", MISSING),
        ("order[0]", MISSING),
        ('"odd name"."a.b"', 1),
        ('"@id"', 2),
        ("größe", 3),
        ("@source", "shop-1"),
        ("@subject", MISSING),
    ],
)
def test_paths_lead(text: str, found: Found) -> None:
    assert parse_path(text).read(EVENT) is found or parse_path(text).read(EVENT) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "a.",
        ".a",
        "a..b",
        "a b",
        "a[",
        "a[x]",
        "a[-1]",
        "[0]",
        "@",
        "@Source",
        "1a",
        '""',
        7,
    ],
)
def test_what_is_no_path(text: object) -> None:
    with pytest.raises(ValueError, match="path"):
        parse_path(text)


@given(st.lists(st.text(st.characters(exclude_characters='"'), min_size=1), min_size=1, max_size=4))
def test_every_member_can_be_reached_quoted(names: list[str]) -> None:
    assert parse_path(".".join(f'"{name}"' for name in names)).steps == tuple(names)


@pytest.mark.parametrize("value", [{}, {"default": 1}, {"path": "a", "fallback": 1}, [], 5, None])
def test_what_is_no_source(value: object) -> None:
    with pytest.raises(ValueError, match="write"):
        parse_source(value)


TEXT = {"type": "string"}
NULLABLE = {"type": ["string", "null"]}
PROMISES: list[tuple[str, dict[str, Any], str, Known]] = [
    ("required", {"properties": {"a": TEXT}, "required": ["a"]}, "a", Known.ALWAYS),
    ("not required", {"properties": {"a": TEXT}}, "a", Known.PERHAPS),
    ("not there", {"properties": {"a": TEXT}, "required": ["a"]}, "b", Known.NOT),
    ("nullable", {"properties": {"a": NULLABLE}, "required": ["a"]}, "a", Known.PERHAPS),
    ("no type", {"properties": {"a": {}}, "required": ["a"]}, "a", Known.PERHAPS),
    ("enum", {"properties": {"a": {"enum": ["x"]}}, "required": ["a"]}, "a", Known.ALWAYS),
    (
        "enum of null",
        {"properties": {"a": {"enum": [None]}}, "required": ["a"]},
        "a",
        Known.PERHAPS,
    ),
    ("const", {"properties": {"a": {"const": 1}}, "required": ["a"]}, "a", Known.ALWAYS),
    (
        "below what may be null",
        {
            "properties": {
                "a": {"type": ["object", "null"], "properties": {"b": TEXT}, "required": ["b"]}
            },
            "required": ["a"],
        },
        "a.b",
        Known.PERHAPS,
    ),
    (
        "below what need not be an object",
        {"properties": {"a": {"properties": {"b": TEXT}, "required": ["b"]}}, "required": ["a"]},
        "a.b",
        Known.PERHAPS,
    ),
    (
        "reference",
        {"properties": {"a": {"$ref": "#/$defs/t"}}, "required": ["a"], "$defs": {"t": TEXT}},
        "a",
        Known.ALWAYS,
    ),
    (
        "circle",
        {
            "properties": {"a": {"$ref": "#/$defs/t"}},
            "$defs": {"t": {"type": "object", "properties": {"a": {"$ref": "#/$defs/t"}}}},
        },
        "a.a.a.a.b",
        Known.NOT,
    ),
    (
        "circle of nothing",
        {"$ref": "#/$defs/t", "$defs": {"t": {"$ref": "#/$defs/t"}}},
        "a",
        Known.NOT,
    ),
    (
        "all of",
        {"allOf": [{"type": "object", "properties": {"a": TEXT}, "required": ["a"]}]},
        "a",
        Known.ALWAYS,
    ),
    (
        "any of, always",
        {"properties": {"a": {"anyOf": [TEXT, {"type": "integer"}]}}, "required": ["a"]},
        "a",
        Known.ALWAYS,
    ),
    (
        "any of, with null",
        {"properties": {"a": {"anyOf": [TEXT, {"type": "null"}]}}, "required": ["a"]},
        "a",
        Known.PERHAPS,
    ),
    (
        "any of, in one branch",
        {"oneOf": [{"type": "object", "properties": {"a": TEXT}, "required": ["a"]}, {}]},
        "a",
        Known.PERHAPS,
    ),
    ("additional", {"additionalProperties": TEXT}, "a", Known.PERHAPS),
    ("closed", {"additionalProperties": False}, "a", Known.NOT),
    (
        "element that must be there",
        {"properties": {"a": {"type": "array", "minItems": 1, "items": TEXT}}, "required": ["a"]},
        "a[0]",
        Known.ALWAYS,
    ),
    (
        "element that may be there",
        {"properties": {"a": {"type": "array", "minItems": 1, "items": TEXT}}, "required": ["a"]},
        "a[1]",
        Known.PERHAPS,
    ),
    (
        "first element of its own",
        {
            "properties": {"a": {"type": "array", "minItems": 1, "prefixItems": [TEXT]}},
            "required": ["a"],
        },
        "a[0]",
        Known.ALWAYS,
    ),
]


@pytest.mark.parametrize(
    ("schema", "path", "known"),
    [(schema, path, known) for _, schema, path, known in PROMISES],
    ids=[name for name, _, _, _ in PROMISES],
)
def test_what_a_schema_promises(schema: dict[str, Any], path: str, known: Known) -> None:
    dialect = "https://json-schema.org/draft/2020-12/schema"
    compiled = compile_schema(1, "v1", {"$schema": dialect, "type": "object", **schema})
    assert compiled.knows(parse_path(path).steps) is known
