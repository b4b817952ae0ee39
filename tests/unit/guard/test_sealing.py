"""Sealed records: opened by who has the key, as they were; for no other letter, by nobody else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consumer.guard.privacy import Lifetime, Privacy
from consumer.guard.sealing import KeyRing, LockedError, derived
from consumer.model import Record

OLD, NEW = b"o" * 32, b"n" * 32
RING = KeyRing({"old": OLD, "new": NEW}, "new")
RECORD = Record("accounts", 3, 7, 1_700_000_000_000, b"key", b"canary", (("type", b"x"),))

maybe = st.none() | st.binary(max_size=40)
names = st.binary(max_size=20).map(lambda name: name.decode("utf-8", "surrogateescape"))
records = st.builds(
    Record,
    st.text(min_size=1, max_size=10), st.integers(0, 9), st.integers(0, 2**62),
    st.integers(-(2**62), 2**62), maybe, maybe,
    st.lists(st.tuples(names, maybe), max_size=4).map(tuple),
)  # fmt: skip


@given(record=records, mail_type=st.none() | st.text(max_size=10))
def test_what_is_sealed_is_opened_as_it_was(record: Record, mail_type: str | None) -> None:
    """Law: byte for byte, nulls and odd header names included."""
    key_id, sealed = RING.seal(record, mail_type)
    assert key_id == "new"
    assert RING.open(key_id, sealed, record.coordinates, mail_type) == record


def test_nothing_of_it_can_be_read_and_no_two_seals_are_alike() -> None:
    first, second = RING.seal(RECORD, "password.reset")[1], RING.seal(RECORD, "password.reset")[1]
    assert b"canary" not in first
    assert first != second


@pytest.mark.parametrize(
    "change", [{"topic": "orders"}, {"partition": 4}, {"offset": 8}, {"timestamp": 1}]
)
def test_it_opens_for_its_own_coordinates_only(change: dict[str, Any]) -> None:
    key_id, sealed = RING.seal(RECORD, "password.reset")
    with pytest.raises(LockedError, match="new"):
        RING.open(key_id, sealed, replace(RECORD.coordinates, **change), "password.reset")


def test_it_opens_for_its_own_mail_type_only() -> None:
    key_id, sealed = RING.seal(RECORD, None)
    with pytest.raises(LockedError, match="new"):
        RING.open(key_id, sealed, RECORD.coordinates, "password.reset")


@pytest.mark.parametrize("place", [0, 1, 20, -1])
def test_a_changed_byte_is_noticed(place: int) -> None:
    key_id, sealed = RING.seal(RECORD, None)
    spoilt = bytearray(sealed)
    spoilt[place] ^= 1
    with pytest.raises(LockedError, match="new"):
        RING.open(key_id, bytes(spoilt), RECORD.coordinates, None)


def test_a_missing_key_is_named_and_another_one_of_that_name_opens_nothing() -> None:
    key_id, sealed = RING.seal(RECORD, None)
    with pytest.raises(LockedError, match=r"under the key new, which is not in privacy\.keys"):
        KeyRing({"old": OLD}, "old").open(key_id, sealed, RECORD.coordinates, None)
    with pytest.raises(LockedError, match="the key new"):
        KeyRing({"new": OLD}, "new").open(key_id, sealed, RECORD.coordinates, None)


def test_an_older_key_opens_what_it_sealed() -> None:
    key_id, sealed = KeyRing({"old": OLD}, "old").seal(RECORD, None)
    assert RING.open(key_id, sealed, RECORD.coordinates, None) == RECORD


def test_keys_are_shown_nowhere() -> None:
    assert "oooo" not in f"{RING!r} {Privacy(RING, hash_key=b'oooo')!r}"


def test_the_key_that_stands_in_is_made_of_the_secret_and_is_not_it() -> None:
    assert derived(b"secret") == derived(b"secret") != derived(b"secre")
    assert len(derived(b"secret")) == 32


def _privacy(ring: KeyRing = RING) -> Privacy:
    return Privacy(
        ring, plain_types=frozenset({"order.receipt"}), plain_topics=frozenset({"orders"}),
        lifetimes=(Lifetime("accounts", "password.reset", 1800.0),),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("topic", "mail_type", "sealed"),
    [
        ("accounts", "password.reset", True),
        ("accounts", None, True),  # unreadable, on a topic where something may be sensitive
        ("accounts", "account.closed", True),  # a type that no folder knows
        ("accounts", "order.receipt", False),
        ("orders", None, False),
        ("orders", "order.viewed", False),
        ("gone", "account.opened", True),  # of another release's catalogue
    ],
)
def test_sealed_is_what_is_not_known_to_be_plain(
    topic: str, mail_type: str | None, *, sealed: bool
) -> None:
    kept = _privacy().keep(replace(RECORD, topic=topic), mail_type)
    assert (kept.sealed is not None) == sealed
    assert (kept.value == b"canary") != sealed


def test_without_a_key_or_without_bytes_nothing_is_sealed() -> None:
    empty = replace(RECORD, key=None, value=None, headers=())
    assert _privacy(KeyRing()).keep(RECORD, "password.reset").value == b"canary"
    assert _privacy().keep(empty, "password.reset").sealed is None


def test_an_address_is_hashed_under_the_key_whatever_its_case() -> None:
    one, other = Privacy(hash_key=b"one"), Privacy(hash_key=b"other")
    assert one.hashed("Ada@example.com") == one.hashed("ada@example.com")
    assert one.hashed("ada@example.com") != other.hashed("ada@example.com")
    assert Privacy().hashed("ada@example.com") is None
