"""A line of history names no address, whatever text it is made of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from consumer.guard.history import LONGEST_DETAIL, plain


@given(st.text(), st.emails(), st.text())
def test_no_address_survives(before: str, address: str, after: str) -> None:
    told = plain(f"{before} {address} {after}")
    assert "@" not in told
    assert "\0" not in told
    assert len(told) <= LONGEST_DETAIL


def test_a_code_is_told_as_it_is() -> None:
    assert plain("postmark 406, HTTP 422") == "postmark 406, HTTP 422"
    assert plain("450 <ada@example.org>: busy") == "450 (address) busy"


def test_no_half_of_an_address_survives_the_cut() -> None:
    said = "x" * (LONGEST_DETAIL - 4) + " ada.byte@example.org said no"
    assert "ada" not in plain(said)
