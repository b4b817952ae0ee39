"""The JSON Schema of an event's data: checking events, and knowing which paths it promises."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from jsonschema_rs import Draft202012Validator, ValidationError, ValidationErrorKind

from consumer.catalogue.keywords import demand
from consumer.model import Json


class Known(IntEnum):
    """What a schema says about a path: nothing, that it may lead somewhere, that it always does."""

    NOT = 0
    PERHAPS = 1
    ALWAYS = 2


@dataclass(frozen=True, slots=True)
class Schema:
    """One `vN.schema.json`, compiled. `names`: all member names that the schema itself uses."""

    version: int
    file: str
    document: Mapping[str, Json]
    validator: Draft202012Validator
    names: frozenset[str]

    def fault(self, data: Json) -> str | None:
        """Return pointer and demand of the first fault, never a value; None: the data is valid."""
        if self.validator.is_valid(data):
            return None
        error = next(iter(self.validator.iter_errors(data)))
        return f"{self._pointer(error.instance_path)}: {demand(error)}"

    def knows(self, steps: tuple[str | int, ...]) -> Known:
        return _knows(self.document, self.document, steps, 0)

    def _pointer(self, steps: Sequence[str | int]) -> str:
        """Name only what the schema names: a member that the sender chose may be an address."""
        shown = (str(s) if isinstance(s, int) or s in self.names else "*" for s in steps)
        return "/" + "/".join(shown)


def compile_schema(version: int, file: str, document: Json) -> Schema:
    """Compile; ValueError says what is wrong and where (as a JSON pointer)."""
    if not isinstance(document, Mapping) or document.get("type") != "object":
        raise ValueError('the schema describes the event\'s data: it says "type": "object"')
    dialect = document.get("$schema", "")
    if "2020-12" not in str(dialect):
        raise ValueError('"$schema" must be "https://json-schema.org/draft/2020-12/schema"')
    try:
        validator = Draft202012Validator(
            dict(document), validate_formats=True, ignore_unknown_formats=False, offline=True
        )
    except ValidationError as error:
        where = "/" + "/".join(map(str, error.instance_path))
        raise ValueError(f"at {where}: {_said(error)}") from None
    return Schema(version, file, document, validator, frozenset(_names(document)))


_TYPES = "string, integer, number, boolean, object, array, null, or a list of such"


def _said(error: ValidationError) -> str:
    """Put the validator's finding about a schema into the words of a person who edits it."""
    match error.kind:
        case ValidationErrorKind.AnyOf() if error.instance_path[-1:] == ["type"]:
            return f"{json.dumps(error.instance)} is no type: write {_TYPES}"
        case ValidationErrorKind.Custom() if error.instance_path[-1:] == ["format"]:
            return (
                f"{error.message.partition('. ')[0]}; write date, date-time, email, uri, uuid, ..."
            )
        case _:
            return error.message


def _names(node: Json) -> Iterator[str]:
    if isinstance(node, Mapping):
        properties = node.get("properties")
        if isinstance(properties, Mapping):
            yield from properties
        for below in node.values():
            yield from _names(below)
    elif isinstance(node, list):
        for below in node:
            yield from _names(below)


_DEEPEST = 64  # references that go round in a circle end here


def _knows(root: Json, node: Json, steps: tuple[str | int, ...], depth: int) -> Known:
    """Take the best of what the node says itself and what its sub-schemas say for it."""
    if not isinstance(node, Mapping) or depth > _DEEPEST:
        return Known.NOT
    best = _own(root, node, steps, depth)
    for part in _parts(root, node):
        best = max(best, _knows(root, part, steps, depth + 1))
    for union in ("anyOf", "oneOf"):
        branches = node.get(union)
        if isinstance(branches, list) and branches:
            known = [_knows(root, branch, steps, depth + 1) for branch in branches]
            best = max(best, min(known) or min(max(known), Known.PERHAPS))
    return best


def _parts(root: Json, node: Mapping[str, Json]) -> Iterator[Json]:
    reference = node.get("$ref")
    if isinstance(reference, str) and reference.startswith("#"):
        yield _resolve(root, reference)
    every = node.get("allOf")
    if isinstance(every, list):
        yield from every


def _resolve(root: Json, reference: str) -> Json:
    here = root
    for step in reference.removeprefix("#").split("/")[1:]:
        here = (
            here.get(step.replace("~1", "/").replace("~0", "~"))
            if isinstance(here, Mapping)
            else None
        )
    return here


def _own(root: Json, node: Mapping[str, Json], steps: tuple[str | int, ...], depth: int) -> Known:
    if not steps:
        return Known.ALWAYS if _never_null(node) else Known.PERHAPS
    first, rest = steps[0], steps[1:]
    below, always = _element(node, first) if isinstance(first, int) else _member(node, first)
    known = _knows(root, below, rest, depth + 1)
    return known if always else min(known, Known.PERHAPS)


def _member(node: Mapping[str, Json], name: str) -> tuple[Json, bool]:
    properties, required = node.get("properties"), node.get("required")
    if isinstance(properties, Mapping) and name in properties:
        demanded = isinstance(required, list) and name in required
        return properties[name], demanded and node.get("type") == "object"
    return node.get("additionalProperties"), False


def _element(node: Mapping[str, Json], index: int) -> tuple[Json, bool]:
    first, least = node.get("prefixItems"), node.get("minItems")
    always = node.get("type") == "array" and isinstance(least, int) and least > index
    if isinstance(first, list) and index < len(first):
        return first[index], always
    return node.get("items"), always


def _never_null(node: Mapping[str, Json]) -> bool:
    if "const" in node:
        return node["const"] is not None
    choices = node.get("enum")
    if isinstance(choices, list):
        return None not in choices
    types = node.get("type")
    if isinstance(types, list):
        return "null" not in types
    return isinstance(types, str) and types != "null"
