"""Any schema and any event: the translation judges as the schema does."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft7Validator, Draft202012Validator

from consumer.contract.schemas import translated

ROOT = "#/components/schemas/any.v1"
NAMES = st.sampled_from(["a", "b", "items", "$defs"])

values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "a", "bb"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
types = st.sampled_from(["object", "array", "string", "integer", "null", "boolean"])
plain = st.fixed_dictionaries(
    {},
    optional={
        "type": types | st.lists(types, min_size=1, max_size=2, unique=True),
        "enum": st.lists(values, min_size=1, max_size=3),
        "maxLength": st.integers(0, 2),
        "minimum": st.integers(-1, 1),
        "required": st.lists(NAMES, max_size=2, unique=True),
        "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, unique=True, max_size=2)),
        "$ref": st.sampled_from(["#/$defs/one", "#/$defs/two", "#/properties/a"]),
    },
)


def _with_parts(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    parts = st.lists(inner, min_size=1, max_size=2)
    members = st.dictionaries(NAMES, inner, max_size=2)
    built = st.fixed_dictionaries(
        {},
        optional={
            "properties": members,
            "additionalProperties": inner,
            "dependentSchemas": members,
            "prefixItems": parts,
            "items": inner,
            "allOf": parts,
            "anyOf": parts,
            "not": inner,
            "contains": inner,
        },
    )
    return st.builds(lambda a, b: {**a, **b}, plain, built) | st.booleans()


schemas = st.recursive(plain, _with_parts, max_leaves=6)
leaves = st.fixed_dictionaries({}, optional={"type": types, "maxLength": st.integers(0, 1)})


@settings(deadline=None)
@given(schema=schemas, one=leaves, two=leaves, a=leaves, event=values)
def test_the_translation_judges_as_the_schema_does(
    schema: Any, one: Any, two: Any, a: Any, event: Any
) -> None:
    """The references lead somewhere and never in a circle: theirs are leaves."""
    whole: dict[str, Any] = schema if isinstance(schema, dict) else {"allOf": [schema]}
    members = {**whole.get("properties", {}), "a": a}
    whole = {**whole, "$defs": {"one": one, "two": two}, "properties": members}
    here = {"components": {"schemas": {"any.v1": translated(whole, ROOT)}}, "$ref": ROOT}
    assert Draft7Validator(here).is_valid(event) is Draft202012Validator(whole).is_valid(event)
