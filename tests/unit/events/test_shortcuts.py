"""The short ways through decoding lead where the long ones do."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import patch

import orjson
from hypothesis import given
from hypothesis import strategies as st

from consumer.events import headers as reading
from consumer.events import strict
from consumer.events.headers import read_headers
from consumer.events.strict import read_json
from tests.unit.events.records import DATA, ENVELOPE, STRUCTURED, event, record

spaced = st.text(st.sampled_from(' \t\n\r\v\f"\\:{}aé\u0085\u00a0\u2028'), max_size=12)
trees = st.recursive(
    st.one_of(spaced, st.integers(-(2**63), 2**64 - 1), st.floats(allow_nan=False), st.none()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(spaced, inner)),
    max_leaves=20,
)


@given(trees)
def test_what_is_written_out_for_comparison_has_spaces_and_no_other_white_space(tree: Any) -> None:
    written = orjson.dumps(tree)
    assert written.replace(b" ", b"") == written.translate(None, b" \t\n\r")


@given(trees, st.integers(0, 70), st.booleans())
def test_wide_deep_and_oddly_spelt_texts_are_read_as_by_the_careful_reader(
    tree: Any,
    levels: int,
    wide: bool,  # noqa: FBT001 - drawn, never written by a caller
) -> None:
    """Members counted instead of written out: more brackets than levels, slashes escaped."""
    for _ in range(levels):
        tree = [tree, "/"]
    text = json.dumps([tree, [[]] * 70 if wide else "é"]).replace("/", r"\/").encode()
    with patch.object(strict, "_is_exact", lambda *_: False):
        careful = read_json(text)
    assert repr(read_json(text)) == repr(careful)


foreign = st.text().filter(
    lambda name: (
        not name.lower().startswith("ce_")
        and name.lower() not in {"type", "content-type", "sendonce-key", "idempotency-key"}
    )
)


@given(st.lists(st.tuples(foreign, st.one_of(st.none(), st.binary()))))
def test_headers_that_mean_nothing_to_us_are_as_none(
    others: list[tuple[str, bytes | None]],
) -> None:
    """Read the short way, the long way, or not there at all."""
    long_way = reading._checked({}, {})
    assert read_headers(others) == long_way == read_headers(())
    assert event(STRUCTURED, *others) == event(STRUCTURED)


attributes = st.dictionaries(
    st.text(st.sampled_from("abcdefghij0123456789"), min_size=1),
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
        st.booleans(),
        st.integers(-(2**31), 2**31 - 1),
        st.sampled_from([None, 1.5, [], {}, ["x"], {"x": "y"}]),
    ),
).filter(lambda extra: not extra.keys() & {*ENVELOPE, "data", "time", "dataschema"})


def _canonical(value: object) -> str | None:
    """Say it again, by the table of the specification: strings, booleans and integers."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int) else None


@given(attributes)
def test_attributes_are_written_by_one_rule(extra: dict[str, Any]) -> None:
    read = event({**ENVELOPE, **extra, "data": DATA}).attributes
    written = {name: _canonical(value) for name, value in {**ENVELOPE, **extra}.items()}
    assert read == {name: text for name, text in written.items() if text is not None}


def test_an_ordinary_record_takes_the_short_way() -> None:
    """Else the short ways prove nothing: no careful reading for any of the usual layouts."""
    layouts = [record(STRUCTURED).value, orjson.dumps(STRUCTURED)]
    layouts.append(orjson.dumps(STRUCTURED, option=orjson.OPT_INDENT_2))
    with (
        patch.object(strict, "_read_carefully", side_effect=AssertionError),
        patch.object(strict, "_count_members", side_effect=AssertionError),
    ):
        assert all(event(value).data == DATA for value in layouts)
