"""The short ways to a recipient lead where the long one does."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import example, given
from hypothesis import strategies as st

from consumer import keys
from consumer.keys import AddressError, canonical_recipient

pieces = st.text(st.sampled_from("aZ09.-_+%!xnXN@ é\u212a"), max_size=8)
addresses = st.one_of(
    st.text(),
    st.builds("{}@{}.{}".format, pieces, pieces, pieces),
    st.builds("{}@{}.{}.example".format, pieces, pieces, pieces),
    st.from_regex(r"\A[a-zA-Z0-9+_-]{1,70}@([a-zA-Z0-9-]{1,70}\.){1,4}[a-zA-Z0-9]{1,6}\Z"),
)


def _outcome(canonical: Callable[[str], str], text: str) -> str:
    try:
        return canonical(text)
    except AddressError as error:
        return f"refused: {error}"


@given(addresses)
@example("Ada@EXAMPLE.com")
@example("ada@xn--bcher-kva.example")
@example(f"{'a' * 65}@example.com")
@example("ada@example.123")
def test_a_plain_address_is_what_the_international_way_makes_of_it(text: str) -> None:
    stripped = text.strip(" \t\n\r\v\f")
    if keys._PLAIN.fullmatch(stripped) and len(stripped) <= keys.MAX_ADDRESS:
        assert _outcome(canonical_recipient, text) == _outcome(keys._international, stripped)


@given(addresses)
def test_an_address_that_is_remembered_is_the_one_that_was_read(text: str) -> None:
    first, again = _outcome(canonical_recipient, text), _outcome(canonical_recipient, text)
    fresh = _outcome(keys._canonical.__wrapped__, text.strip(" \t\n\r\v\f"))
    assert first == again == fresh
