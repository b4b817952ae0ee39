"""Walking to a value and picking members: every walk, against the rule said step by step."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from consumer.catalogue.paths import MISSING, Found, Path, Source
from consumer.model import Event

names = st.sampled_from(["a", "b", "c", "0"])
steps = st.lists(st.one_of(names, st.integers(0, 2)), max_size=4).map(tuple)
trees = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text("ab", max_size=3)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner)),
    max_leaves=25,
)
objects = st.dictionaries(names, trees, min_size=1)


def _walk(here: Any, way: tuple[str | int, ...]) -> Found:
    """Names lead into objects and numbers into lists; nothing leads into anything else."""
    if not way:
        return here  # type: ignore[no-any-return] # JSON
    first, rest = way[0], way[1:]
    if type(here) is dict and type(first) is str and first in here:
        return _walk(here[first], rest)
    if type(here) is list and type(first) is int and first < len(here):
        return _walk(here[first], rest)
    return MISSING


def _same(one: Found, other: Found) -> bool:
    return one is other or (MISSING not in (one, other) and repr(one) == repr(other))


@given(objects, steps)
@example({"a": "text"}, ("a", 0))
@example({"0": 1}, (0,))
@example({"a": [None]}, ("a", 0))
def test_a_walk_ends_where_the_rule_says(data: dict[str, Any], way: tuple[str | int, ...]) -> None:
    assert _same(Path("x", way).read(Event("t", data)), _walk(data, way))


@given(st.dictionaries(names, st.text()), names)
def test_attributes_are_walked_to_by_their_name_alone(found: dict[str, str], name: str) -> None:
    path = Path(f"@{name}", (name,), envelope=True)
    assert path.read(Event("t", {name: "not this"}, found)) == found.get(name, MISSING)


def _pick(value: Any, members: tuple[str, ...]) -> Any:
    match value:
        case list():
            return [_pick(one, members) for one in value]
        case dict():
            return {name: value[name] for name in members if name in value}
        case _:
            return value


@given(objects, steps, st.lists(names, unique=True, min_size=1).map(tuple))
def test_a_source_picks_only_what_it_names_in_the_order_of_its_naming(
    data: dict[str, Any], way: tuple[str | int, ...], members: tuple[str, ...]
) -> None:
    read = Source(Path("x", way), "default", members).read(Event("t", data))
    found = _walk(data, way)
    wanted = "default" if found is MISSING or found is None else _pick(found, members)
    assert repr(read) == repr(wanted)
