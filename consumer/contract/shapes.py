"""A JSON Schema read as a list of members, the way a person who writes an event reads it.

References are followed and `allOf` is joined. What stands in one branch of `anyOf` or `oneOf` is
listed as well, as nothing that must be there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import orjson

from consumer.model import Json

_DEEPEST: Final = 12  # references that go round in a circle end here
_WHOLE_LIST: Final = 6  # of choices; a longer one is cut


@dataclass(frozen=True, slots=True)
class Member:
    """`steps` from the event's data; "[]" steps into a list. `required` where its object is."""

    steps: tuple[str, ...]
    type: str
    required: bool
    limits: str
    meaning: str


def members(document: Mapping[str, Json]) -> Iterator[Member]:
    return _members(document, document, ())


def _members(root: Mapping[str, Json], node: Json, steps: tuple[str, ...]) -> Iterator[Member]:
    if len(steps) > _DEEPEST:
        return
    shapes = list(_shapes(root, node, 0))
    needed = {name for shape, sure in shapes if sure for name in _names(shape.get("required"))}
    seen: set[str] = set()
    for shape, _ in shapes:
        for name, below in _mapping(shape.get("properties")).items():
            if name not in seen:
                seen.add(name)
                yield from _member(root, below, (*steps, name), required=name in needed)
        yield from _others(root, shape.get("additionalProperties"), steps)
    for shape, _ in shapes:
        if "items" in shape:
            yield from _element(root, shape["items"], (*steps, "[]"))


def _member(
    root: Mapping[str, Json], node: Json, steps: tuple[str, ...], *, required: bool
) -> Iterator[Member]:
    said = _joined(root, node)
    meaning = str(said.get("description") or said.get("title") or "")
    yield Member(steps, _type(said), required, _limits(said), meaning)
    yield from _members(root, node, steps)


def _others(root: Mapping[str, Json], node: Json, steps: tuple[str, ...]) -> Iterator[Member]:
    """Members whose names are the producer's to choose, where a schema describes them."""
    if isinstance(node, Mapping) and node:
        yield from _member(root, node, (*steps, "*"), required=False)


def _element(root: Mapping[str, Json], node: Json, steps: tuple[str, ...]) -> Iterator[Member]:
    """Of a list of objects come the objects' members; of a list of anything else, its element."""
    inside = list(_members(root, node, steps))
    if inside:
        yield from inside
    else:
        yield from _member(root, node, steps, required=True)


def _shapes(
    root: Mapping[str, Json], node: Json, depth: int, *, sure: bool = True
) -> Iterator[tuple[Mapping[str, Json], bool]]:
    """Yield every schema that says something about this place; False: only perhaps."""
    if not isinstance(node, Mapping) or depth > _DEEPEST:
        return
    yield node, sure
    reference = node.get("$ref")
    if isinstance(reference, str):
        yield from _shapes(root, _resolved(root, reference), depth + 1, sure=sure)
    for word in ("allOf", "anyOf", "oneOf", "then", "else"):
        branches = node.get(word, [])
        for branch in branches if isinstance(branches, list) else [branches]:
            yield from _shapes(root, branch, depth + 1, sure=sure and word == "allOf")


def _joined(root: Mapping[str, Json], node: Json) -> dict[str, Json]:
    """Return one dict of all that is said about a place; what is said further out wins."""
    said: dict[str, Json] = {}
    for shape, _ in _shapes(root, node, 0):
        said = {**shape, **said}
    return said


def _resolved(root: Json, reference: str) -> Json:
    here = root
    for step in reference.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        here = here.get(name) if isinstance(here, Mapping) else None
    return here


def _mapping(node: Json) -> Mapping[str, Json]:
    return node if isinstance(node, Mapping) else {}


def _names(node: Json) -> list[str]:
    return [str(name) for name in node] if isinstance(node, list) else []


# ── In words


def _type(said: Mapping[str, Json]) -> str:
    types = said.get("type")
    if isinstance(types, list):
        return " or ".join(map(str, types))
    if isinstance(types, str):
        return types
    return "one of a list" if "enum" in said else "anything"


def _limits(said: Mapping[str, Json]) -> str:
    return "; ".join(filter(None, (_choices(said), _form(said), *_bounds(said))))


def _choices(said: Mapping[str, Json]) -> str:
    if "const" in said:
        return f"always {_json(said['const'])}"
    choices = said.get("enum")
    if not isinstance(choices, list):
        return ""
    shown = ", ".join(map(_json, choices[:_WHOLE_LIST]))
    return f"one of {shown}" + (", …" if len(choices) > _WHOLE_LIST else "")


def _form(said: Mapping[str, Json]) -> str:
    if pattern := said.get("pattern"):
        return f"matches {pattern}"
    return str(said.get("format", ""))


_BOUNDS: Final = (
    ("minLength", "maxLength", "characters"),
    ("minItems", "maxItems", "elements"),
    ("minimum", "maximum", ""),
    ("exclusiveMinimum", "exclusiveMaximum", "(exclusive)"),
)


def _bounds(said: Mapping[str, Json]) -> Iterator[str]:
    for least, most, unit in _BOUNDS:
        low, high = said.get(least), said.get(most)
        if low is not None and high is not None:
            yield f"{low} to {high} {unit}".rstrip()
        elif low is not None:
            yield f"at least {low} {unit}".rstrip()
        elif high is not None:
            yield f"at most {high} {unit}".rstrip()


def _json(value: Json) -> str:
    return orjson.dumps(value).decode()
