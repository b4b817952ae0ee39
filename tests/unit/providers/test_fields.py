"""A mailbox as one string: whatever the name holds, it stays one."""

from __future__ import annotations

from email.utils import getaddresses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consumer.model import Address
from consumer.providers.fields import mailbox


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("", "ada@example.com"),
        ("Ada", '"Ada" <ada@example.com>'),
        ("Byte, Ada", '"Byte, Ada" <ada@example.com>'),
        ('Ada "A\\B" Byte', '"Ada \\"A\\\\B\\" Byte" <ada@example.com>'),
        ("back\\", '"back\\\\" <ada@example.com>'),
    ],
)
def test_a_name_is_quoted(name: str, written: str) -> None:
    assert mailbox(Address("ada@example.com", name)) == written


@given(st.text(st.characters(exclude_categories=["C", "Z"], include_characters=" "), min_size=1))
def test_any_name_is_read_back_as_one(name: str) -> None:
    assert getaddresses([mailbox(Address("ada@example.com", name))]) == [(name, "ada@example.com")]
