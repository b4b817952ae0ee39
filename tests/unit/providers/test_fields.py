"""A mailbox as one string: whatever the name holds, it stays one."""

from __future__ import annotations

from collections.abc import Callable
from email.utils import getaddresses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consumer.model import Address, Rejected
from consumer.providers.fields import mailbox, refuse
from tests.doubles.mails import mail


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


@pytest.mark.parametrize("mark", ["\r", "\n", "\0"])
@pytest.mark.parametrize(
    ("place", "changes"),
    [
        ("subject", lambda bad: {"subject": bad}),
        ("sender", lambda bad: {"sender": Address("a@example.com", bad)}),
        ("sender", lambda bad: {"sender": Address(bad)}),
        ("recipient", lambda bad: {"to": Address("a@example.com", bad)}),
        ("recipient", lambda bad: {"to": Address(bad)}),
        ("reply_to", lambda bad: {"reply_to": Address("a@example.com", bad)}),
        ("reply_to", lambda bad: {"reply_to": Address(bad)}),
        ("a header", lambda bad: {"headers": (("X-Good", "good"), (bad, "good"))}),
        ("a header", lambda bad: {"headers": (("X-Good", "good"), ("X-Bad", bad))}),
        ("a tag", lambda bad: {"tags": ("good", bad)}),
        ("an option", lambda bad: {"options": {"stream": bad}}),
        ("an option", lambda bad: {"options": {bad: "good"}}),
        ("the message id", lambda bad: {"message_id": bad}),
        ("the key", lambda bad: {"key": bad}),
    ],
)
def test_nothing_bound_for_a_header_breaks_its_line(
    place: str, changes: Callable[[str], dict[str, Any]], mark: str
) -> None:
    """The refusal says where, and shows nothing of it."""
    refused = refuse(mail(**changes(f"good{mark}Bcc: eve@example.com")), utf8_local=True)
    assert isinstance(refused, Rejected)
    assert place in refused.error
    assert "eve" not in refused.error


def test_a_clean_message_is_not_refused() -> None:
    clean = mail(
        reply_to=Address("help@example.com", "Help"),
        headers=(("X-Good", "good"),),
        tags=("good",),
        options={"stream": "good"},
    )
    assert refuse(clean, utf8_local=False) is None
