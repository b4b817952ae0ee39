"""A rendered mail, read back by the standard library: what went in comes out."""

from __future__ import annotations

from email import message_from_bytes, policy
from email.header import decode_header, make_header
from email.message import EmailMessage
from email.utils import getaddresses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consumer.model import Address, Message
from consumer.providers.mime import render
from tests.doubles.mails import KEY, mail

printable = st.text(st.characters(exclude_categories=["C", "Z"], include_characters=" "))
line = printable.map(str.strip)


def parsed(message: Message) -> EmailMessage:
    read = message_from_bytes(render(message), policy=policy.SMTP)
    assert isinstance(read, EmailMessage)
    assert not read.defects
    return read


@pytest.mark.parametrize(
    "subject",
    [
        "Your receipt",
        "Räksmörgås " * 25,
        "🐙" * 60,
        "x" * 200,
        "word " * 60 + "end",
        "=?utf-8?q?looks_encoded?=",
        "👨‍👩‍👧‍👦 family " * 10,
        "a" * 75 + " é",
        " space before",
        "space behind ",
        "",
    ],
)
def test_a_subject_comes_back_as_it_was(subject: str) -> None:
    assert parsed(mail(subject=subject))["Subject"] == subject


@given(line)
def test_any_subject_comes_back(subject: str) -> None:
    assert parsed(mail(subject=subject))["Subject"] == subject


@given(line)
def test_any_name_comes_back_and_stays_one_mailbox(name: str) -> None:
    """Read word by word: the newer parser of Python 3.11 puts a space between two encoded words."""
    written = message_from_bytes(render(mail(to=Address("ada@example.com", name))))["To"]
    [(phrase, address)] = getaddresses([written])
    assert address == "ada@example.com"
    assert str(make_header(decode_header(phrase))) == name


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_comes_back_in_both_parts(text: str) -> None:
    read = parsed(mail(text=text, html=text))
    expected = text.replace("\r\n", "\n").replace("\r", "\n")
    for part in read.iter_parts():
        assert isinstance(part, EmailMessage)
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        assert content.decode().replace("\r\n", "\n") == expected


@given(line, line, st.text(st.characters(exclude_categories=["Cs"])))
def test_no_line_is_longer_than_mail_allows(subject: str, name: str, text: str) -> None:
    """998 octets, RFC 5322; and every line ends in CRLF, never in half of it."""
    written = render(mail(subject=subject, to=Address("ada@example.com", name), text=text * 50))
    lines = written.split(b"\r\n")
    assert max(map(len, lines)) <= 998
    assert not any(b"\r" in each or b"\n" in each for each in lines)


@pytest.mark.parametrize("name", ["x" * 1200, "Ada " * 300 + "Byte"])
def test_nor_is_any_header(name: str) -> None:
    written = render(
        mail(to=Address("ada@example.com", name), subject=name, headers=(("X", name),))
    )
    assert max(map(len, written.split(b"\r\n"))) <= 998


def test_text_comes_before_html_and_the_message_id_is_ours() -> None:
    read = parsed(mail())
    assert [part.get_content_type() for part in read.iter_parts()] == ["text/plain", "text/html"]
    assert read["Message-ID"] == f"<{KEY}@shop.example>"
    assert read["Auto-Submitted"] == "auto-generated"


def test_the_same_message_is_the_same_bytes_and_has_no_clock_in_it() -> None:
    assert render(mail()) == render(mail())
    assert b"\nDate:" not in render(mail())
