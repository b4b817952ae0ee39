"""The catalogue's JSON Schemas in the dialect that AsyncAPI speaks by itself.

The catalogue writes 2020-12; an AsyncAPI document without a `schemaFormat` is read as draft 07 with
a few words more, and that is what generators and viewers understand. What has another name there
gets it; a reference leads to where the schema lies in the document. What draft 07 has no word for
(`unevaluatedProperties`, `minContains`) is kept and not looked at there: the document then admits a
little more than the service does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from consumer.catalogue.keywords import LISTS, NAMED, ONE
from consumer.model import Json

_NAMES: Final = {"$defs": "definitions", "prefixItems": "items"}
_DROPPED: Final = frozenset(
    {"$schema", "$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$vocabulary"}
)
_DEPENDENT: Final = ("dependentRequired", "dependentSchemas")


def translated(document: Json, root: str) -> Json:
    """Return the schema as it stands at `root` ("#/components/schemas/order.receipt.v1")."""
    if not isinstance(document, Mapping):
        return document
    said: dict[str, Json] = {}
    for word, value in document.items():
        if word not in _DROPPED | set(_DEPENDENT):
            said[_word(document, word)] = _value(word, value, root)
    if dependencies := _dependencies(document, root):
        said["dependencies"] = dependencies
    return _beside_reference(said)


def _word(node: Mapping[str, Json], word: str) -> str:
    if word == "items" and "prefixItems" in node:
        return "additionalItems"
    return _NAMES.get(word, word)


def _value(word: str, value: Json, root: str) -> Json:
    if word == "$ref":
        return _reference(str(value), root)
    if word in ONE:
        return translated(value, root)
    if word in LISTS and isinstance(value, list):
        return [translated(one, root) for one in value]
    if word in NAMED and isinstance(value, Mapping):
        return {name: translated(one, root) for name, one in value.items()}
    return value


def _reference(reference: str, root: str) -> str:
    """Lead a reference inside the schema to its place in the document."""
    steps = reference.removeprefix("#").split("/")[1:]
    named = [
        step if before in ("properties", "patternProperties") else _NAMES.get(step, step)
        for before, step in zip(["", *steps], steps, strict=False)
    ]
    return "/".join([root, *named])


def _dependencies(node: Mapping[str, Json], root: str) -> dict[str, Json]:
    """Draft 07 has one word for what depends on a member: a list of names, or a schema."""
    names, shapes = (node.get(word) for word in _DEPENDENT)
    found: dict[str, Json] = dict(names) if isinstance(names, Mapping) else {}
    for name, shape in shapes.items() if isinstance(shapes, Mapping) else ():
        here = translated(shape, root)
        found[name] = {"required": found[name], "allOf": [here]} if name in found else here
    return found


def _beside_reference(said: dict[str, Json]) -> Json:
    """In draft 07 a reference hides what stands beside it: it goes into an `allOf` of its own."""
    if "$ref" not in said or len(said) == 1:
        return said
    others = {word: value for word, value in said.items() if word not in ("$ref", "allOf")}
    before = said.get("allOf")
    parts = before if isinstance(before, list) else []
    return {**others, "allOf": [{"$ref": said["$ref"]}, *parts]}
