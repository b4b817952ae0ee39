"""Headers: the few that we read are read strictly, the others never."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consumer.events import decode
from consumer.model import Bad, Event, Skipped
from tests.unit.events.records import CE, DATA, KEY, STRUCTURED, event, malformed, record


@pytest.mark.parametrize("body", [DATA, STRUCTURED], ids=["plain", "structured"])
def test_a_carried_key_and_a_carried_id_are_taken_verbatim(body: object) -> None:
    carried = event(body, ("sendonce-key", KEY.encode()), ("idempotency-key", b"Ab:1\\"))
    assert (carried.carried_key, carried.carried_id) == (KEY, "Ab:1\\")
    carried = event(DATA, *CE, ("Sendonce-Key", KEY.encode()), ("Idempotency-Key", b"x" * 255))
    assert (carried.carried_key, carried.carried_id) == (KEY, "x" * 255)


@pytest.mark.parametrize(
    "value", [None, b"", b"abc", KEY.upper().encode(), KEY.encode() + b" ", b"\xff" * 48]
)
def test_a_key_that_is_none_is_malformed_not_passed_over(value: bytes | None) -> None:
    """Losing a carried key would send a second mail under another one."""
    assert malformed(DATA, ("sendonce-key", value)).startswith("header sendonce-key ")


@pytest.mark.parametrize(
    "value", [None, b"", b"a b", b"x" * 256, b"\x7f", "\u00e9".encode(), b"\xff", b"a\n"]
)
def test_an_id_that_is_none_is_malformed(value: bytes | None) -> None:
    assert malformed(DATA, ("idempotency-key", value)).startswith("header idempotency-key ")


@pytest.mark.parametrize("value", [b"", b" x", b"\xff", b"a\0b", b"x" * 256])
@pytest.mark.parametrize("name", ["type", "ce_type"])
def test_a_type_that_names_nothing_is_malformed(name: str, value: bytes) -> None:
    assert malformed(DATA, (name, value)).startswith(f"header {name} ")


def test_a_header_that_stands_twice_must_say_the_same() -> None:
    assert event(DATA, ("type", b"a"), ("type", b"a")).type == "a"
    for first, second in ((b"a", b"b"), (b"a", None), (None, b"a")):
        detail = malformed(DATA, ("type", first), ("TYPE", second))
        assert detail == "header type stands twice and differs"


def test_null_is_absent() -> None:
    assert event(DATA, ("type", None), ("content-type", None)).type == "orders"


def test_other_headers_are_never_looked_into() -> None:
    others = [("x", b"\x9c"), ("x", None), ("", b""), ("\ud800", b"\xff"), ("traceparent", b"\0")]
    many = [(f"h{n}", b"x") for n in range(300)]
    assert event(DATA, *others, *many, ("big", b"x" * 900_000)) == event(DATA)


def test_odd_names_are_not_repeated() -> None:
    detail = malformed(DATA, ("ce_ada@example.com", b"\xff"))
    assert detail == "header of CloudEvents (ce_) is null, not UTF-8, or holds a control character"


# Names and values among which every branch is frequent.
names = st.one_of(
    st.sampled_from(["type", "content-type", "sendonce-key", "idempotency-key"]),
    st.sampled_from(["ce_specversion", "ce_id", "ce_type", "ce_source", "ce_time", "Ce_Id"]),
    st.text(max_size=5),
)
header_values = st.one_of(
    st.none(), st.binary(max_size=9), st.sampled_from([b"1.0", b"t", KEY.encode()])
)
json_like = st.text('{}[]":,\\u0aN\0 1-+.').map(str.encode)
envelopes: st.SearchStrategy[dict[str, object]] = st.dictionaries(
    st.sampled_from(
        ["specversion", "id", "type", "source", "time", "dataschema", "data", "data_base64", "op"]
    ),
    st.one_of(
        st.sampled_from(["1.0", "t", "e30=", "2026-03-01T12:00:00Z", "0001-01-01T00:00:00+23:59"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        st.just({}),
    ),
)


@given(
    st.one_of(st.none(), st.binary(), json_like, envelopes),
    st.lists(st.tuples(names, header_values), max_size=6),
)
def test_decoding_never_raises_and_is_the_same_each_time(
    value: object, headers: list[tuple[str, bytes | None]]
) -> None:
    first, again = (decode(record(value, *headers)) for _ in range(2))
    assert isinstance(first, Event | Bad | Skipped)
    assert repr(first) == repr(again)
    if isinstance(first, Event):
        assert first.type.isprintable()
        assert first.time is None or first.time.tzinfo is not None
