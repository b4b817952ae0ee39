"""The words of JSON Schema 2020-12: what they ask for, and that nobody has misspelt one.

The standard lets a validator pass over a word that it does not know. Then `minLenght` checks
nothing, and nobody notices. Here such a word is a mistake; notes of one's own begin with `x-`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from typing import Final

from jsonschema_rs import ValidationError, ValidationErrorKind

from consumer.model import Json

ONE: Final = frozenset(  # whose value is a schema
    [
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    ]
)
LISTS: Final = frozenset(["allOf", "anyOf", "oneOf", "prefixItems"])
NAMED: Final = frozenset(
    ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"]
)
_PLAIN: Final = frozenset(
    [
        "$anchor",
        "$comment",
        "$dynamicAnchor",
        "$dynamicRef",
        "$id",
        "$ref",
        "$schema",
        "$vocabulary",
        "const",
        "contentEncoding",
        "contentMediaType",
        "default",
        "dependentRequired",
        "deprecated",
        "description",
        "enum",
        "examples",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "format",
        "maxContains",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minContains",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "pattern",
        "readOnly",
        "required",
        "title",
        "type",
        "uniqueItems",
        "writeOnly",
    ]
)
_KNOWN: Final = ONE | LISTS | NAMED | _PLAIN
_LONGEST: Final = 80  # characters of a demand: a list of choices may be long


def unknown_words(node: Json, place: str = "") -> Iterator[str]:
    """Yield what is wrong, with its place, for each word that the standard does not have."""
    if not isinstance(node, Mapping):
        return
    for word, value in node.items():
        here = f"{place}/{word}"
        if word not in _KNOWN and not word.startswith("x-"):
            yield f"at {here}: JSON Schema 2020-12 has no such keyword{did_you_mean(word, _KNOWN)}"
        for step, below in _below(word, value):
            yield from unknown_words(below, here + step)


def _below(word: str, value: Json) -> list[tuple[str, Json]]:
    """Return the schemas inside a word's value; what lies in `enum` or `examples` is none."""
    if word in ONE:
        return [("", value)]
    if word in LISTS and isinstance(value, list):
        return [(f"/{index}", one) for index, one in enumerate(value)]
    if word in NAMED and isinstance(value, Mapping):
        return [(f"/{name}", one) for name, one in value.items()]
    return []


def did_you_mean(name: str, known: Collection[str]) -> str:
    close = get_close_matches(name, sorted(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def demand(error: ValidationError) -> str:
    """Say which word of the schema is not kept, and what it asks for; never a value."""
    kind = error.kind
    match kind:
        case ValidationErrorKind.Required(property=name):
            return f"required ({name} is absent)"
        case ValidationErrorKind.Type(types=types):
            wanted = " or ".join(types)
        case ValidationErrorKind.Format(format=name):
            wanted = name
        case ValidationErrorKind.Pattern(pattern=pattern):
            wanted = pattern
        case ValidationErrorKind.Enum(options=options):
            wanted = ", ".join(map(str, options))
        case ValidationErrorKind.Constant(expected_value=value):
            wanted = str(value)
        case _:
            wanted = str(getattr(kind, "limit", ""))
    shown = wanted if len(wanted) <= _LONGEST else wanted[: _LONGEST - 1] + "…"
    return f"{kind.name} ({shown})" if shown else str(kind.name)
