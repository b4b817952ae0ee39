"""What a JSON Schema refuses that it took before. Events of yesterday are still on their way.

Answers where it can be sure, and says so where it cannot: a change inside `oneOf`, `not`, `if` and
their like may refuse anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from consumer.catalogue.canonical import canonical
from consumer.model import Json

_TYPES: Final = frozenset({"null", "boolean", "object", "array", "number", "integer", "string"})
_AT_LEAST: Final = (
    "minLength", "minimum", "exclusiveMinimum", "minItems", "minProperties",
)  # fmt: skip
_AT_MOST: Final = (
    "maxLength", "maximum", "exclusiveMaximum", "maxItems", "maxProperties",
)  # fmt: skip
_SAME_OR_GONE: Final = (
    "pattern", "format", "multipleOf", "uniqueItems",
    "allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas",
    "patternProperties", "propertyNames", "contains", "minContains", "maxContains", "prefixItems",
    "unevaluatedProperties", "unevaluatedItems",
)  # fmt: skip
_DEEPEST: Final = 32  # references that go round in a circle end here


@dataclass(frozen=True, slots=True)
class _Pair:
    """The same place in both schemas. `at`: as a JSON pointer into the event's data."""

    old: Mapping[str, Json]
    new: Mapping[str, Json]
    at: str
    depth: int


def narrowed(old: Json, new: Json) -> list[str]:
    """Return, with its place, whatever `new` may refuse and `old` took. Whole documents."""
    found = _compared(old, new, _Roots(old, new), "", 0)
    return list(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class _Roots:
    old: Json
    new: Json


def _compared(old: Json, new: Json, roots: _Roots, at: str, depth: int) -> Iterator[str]:
    old, new = _resolved(old, roots.old), _resolved(new, roots.new)
    if old is False or new is True or depth > _DEEPEST:
        return
    if new is False:
        yield f"{at or '/'}: nothing is allowed there any more"
        return
    pair = _Pair(_mapping(old), _mapping(new), at or "/", depth)
    for rule in (_types, _values, _limits, _conditions, _needed, _any_of):
        yield from rule(pair)
    yield from _members(pair, roots)
    yield from _elements(pair, roots)


def _mapping(node: Json) -> Mapping[str, Json]:
    return node if isinstance(node, Mapping) else {}


def _resolved(node: Json, root: Json) -> Json:
    """Follow a reference; what stands beside it is left out of account only where it is alone."""
    for _ in range(_DEEPEST):
        reference = node.get("$ref") if isinstance(node, Mapping) else None
        if not isinstance(reference, str) or not reference.startswith("#"):
            return node
        node = _at(root, reference)
    return node


def _at(root: Json, reference: str) -> Json:
    here = root
    for step in reference.removeprefix("#").split("/")[1:]:
        here = _mapping(here).get(step.replace("~1", "/").replace("~0", "~"))
    return here


def _types(pair: _Pair) -> Iterator[str]:
    lost = _allowed(pair.old) - _allowed(pair.new)
    if lost:
        yield f"{pair.at}: may not be {' or '.join(sorted(lost))} any more"


def _allowed(node: Mapping[str, Json]) -> frozenset[str]:
    named = node.get("type")
    names = [named] if isinstance(named, str) else named
    types = frozenset(map(str, names)) if isinstance(names, list) else _TYPES
    return types | {"integer"} if "number" in types else types


def _values(pair: _Pair) -> Iterator[str]:
    new = _listed(pair.new)
    if new is None:
        return
    old = _listed(pair.old)
    if old is None:
        yield f"{pair.at}: only certain values are allowed by now"
    elif old - new:
        yield f"{pair.at}: a value that was allowed is not any more"


def _listed(node: Mapping[str, Json]) -> frozenset[bytes] | None:
    if "const" in node:
        return frozenset({canonical(node["const"])})
    values = node.get("enum")
    return frozenset(map(canonical, values)) if isinstance(values, list) else None


def _limits(pair: _Pair) -> Iterator[str]:
    def tighter(
        names: tuple[str, ...], is_tighter: Callable[[float, float], bool]
    ) -> Iterator[str]:
        for name in names:
            old, new = pair.old.get(name), pair.new.get(name)
            if isinstance(new, int | float) and not (
                isinstance(old, int | float) and not is_tighter(new, old)
            ):
                yield f"{pair.at}: {name} is {new}"

    yield from tighter(_AT_LEAST, lambda new, old: new > old)
    yield from tighter(_AT_MOST, lambda new, old: new < old)


def _conditions(pair: _Pair) -> Iterator[str]:
    for name in _SAME_OR_GONE:
        new = pair.new.get(name)
        if new not in (None, False, pair.old.get(name)):
            yield f"{pair.at}: {name} is another one"


def _needed(pair: _Pair) -> Iterator[str]:
    for name in sorted(_required(pair.new) - _required(pair.old)):
        yield f"{_below(pair.at, name)}: is required"


def _required(node: Mapping[str, Json]) -> frozenset[str]:
    names = node.get("required")
    return frozenset(map(str, names)) if isinstance(names, list) else frozenset()


def _any_of(pair: _Pair) -> Iterator[str]:
    """One more way is no narrower; a way that is gone, or another one, may be."""
    old, new = pair.old.get("anyOf"), pair.new.get("anyOf")
    if not isinstance(new, list):
        return
    ways = {canonical(way) for way in new}
    if not isinstance(old, list) or any(canonical(way) not in ways for way in old):
        yield f"{pair.at}: anyOf is another one"


def _members(pair: _Pair, roots: _Roots) -> Iterator[str]:
    old, new = _mapping(pair.old.get("properties")), _mapping(pair.new.get("properties"))
    rest_old = pair.old.get("additionalProperties", True)
    rest_new = pair.new.get("additionalProperties", True)
    for name in old:
        at = _below(pair.at, name)
        yield from _compared(old[name], new.get(name, rest_new), roots, at, pair.depth + 1)
    at = _below(pair.at, "*")
    yield from _compared(rest_old, rest_new, roots, at, pair.depth + 1)


def _elements(pair: _Pair, roots: _Roots) -> Iterator[str]:
    old, new = pair.old.get("items", True), pair.new.get("items", True)
    yield from _compared(old, new, roots, _below(pair.at, "0"), pair.depth + 1)


def _below(at: str, name: str) -> str:
    return f"{at.rstrip('/')}/{name}"
