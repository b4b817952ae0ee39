"""Laws of a log line: it is one line of valid JSON whatever it is given, and shows no address."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consumer.telemetry.lines import hide_addresses, to_line


class Hostile:
    def __str__(self) -> str:
        raise RuntimeError


class HostileError(Exception):
    def __str__(self) -> str:
        raise RuntimeError


class Colour(StrEnum):
    RED = "red"


@dataclass
class Person:
    email: str


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=2**62, max_value=2**200)
    | st.floats()
    | st.text(max_size=10)
    | st.sampled_from(["\ud800", "a\udfff", "\x00", "\u2028"])
    | st.binary(max_size=10)
    | st.just(Hostile())
    | st.just(HostileError())
    | st.builds(Person, st.just("ada@example.org"))
)
keys = st.text(max_size=5) | st.integers() | st.none()
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner) | st.dictionaries(keys, inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), values, max_size=4))
def test_anything_becomes_one_line_of_json(event: dict[str, object]) -> None:
    line = to_line(event)
    assert b"\n" not in line
    assert isinstance(orjson.loads(line), dict)


def test_a_value_that_holds_itself_ends() -> None:
    loop: dict[str, object] = {"number": 2**70}
    loop["self"] = loop
    assert orjson.loads(to_line(loop))["number"] == hex(2**70)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Colour.RED, "red"),
        (b"body", "<4 bytes>"),
        (Person("ada@example.org"), "<Person>"),
        (ValueError("no"), "ValueError: no"),
        (2**64, hex(2**64)),
        pytest.param(10**5000, "<integer of 16610 bits>", id="huge"),
        ("\ud800", "\\ud800"),
        ({1}, [1]),
    ],
)
def test_what_a_value_looks_like(value: object, shown: object) -> None:
    assert orjson.loads(to_line({"value": value}))["value"] == shown


LOCAL = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=30)


@given(before=st.text(), local=LOCAL, domain=LOCAL, after=st.text())
def test_no_address_survives(before: str, local: str, domain: str, after: str) -> None:
    """In any surroundings, escapes included, and the line stays JSON."""
    line = to_line({"event": f"{before} {local}@{domain}.example {after}"})
    assert f"{local}@{domain}".encode() not in line
    assert isinstance(orjson.loads(line)["event"], str)


@pytest.mark.parametrize(
    "text",
    [
        "Key (recipient)=(ada@example.org) already exists.",
        "<ada@example.org>",
        "line\nada@example.org\tnext",
        "GET /messages?to=ada%40example.org",
        "postgresql://sendonce:s3cret-ada@db.example/mail",
        "mailto:ada@example.org,bob",
    ],
)
def test_addresses_where_libraries_put_them(text: str) -> None:
    shown = orjson.loads(to_line({"event": text}))["event"]
    assert "ada" not in shown
    assert "[address]" in shown


def test_a_line_without_addresses_is_untouched() -> None:
    line = b'{"event":"sent","key":"00ff"}'
    assert hide_addresses(line) is line


def test_masking_is_linear() -> None:
    """A megabyte without a space in it takes no noticeable time."""
    begin = time.perf_counter()
    hide_addresses(b"x" * 1_000_000 + b"@" + b"y" * 1_000_000)
    assert time.perf_counter() - begin < 1
