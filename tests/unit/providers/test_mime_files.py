"""A rendered mail with files, read back by the standard library: each file is what it was."""

from __future__ import annotations

from email import message_from_bytes, policy
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consumer.model import Attachment, Enclosed
from consumer.providers.mime import render
from tests.doubles.mails import mail

names = st.text(
    st.characters(exclude_categories=["C", "Z"], exclude_characters='"\\/', include_characters=" "),
    min_size=1,
    max_size=100,
).map(str.strip)


def enclosed(name: str, content: bytes, kind: str = "application/pdf") -> Enclosed:
    return Enclosed(Attachment(name, kind, "0" * 64, "https://files.example/", 1), content)


def written(*files: Enclosed) -> bytes:
    return render(mail(attachments=tuple(each.attachment for each in files)), files)


def parsed(raw: bytes) -> EmailMessage:
    read = message_from_bytes(raw, policy=policy.SMTP)
    assert isinstance(read, EmailMessage)
    assert not read.defects
    return read


@given(names.filter(bool), st.binary(min_size=1, max_size=2000))
def test_any_file_comes_back_under_its_name(name: str, content: bytes) -> None:
    raw = written(enclosed(name, content))
    [part] = parsed(raw).iter_attachments()
    assert part.get_filename() == name
    assert part.get_payload(decode=True) == content
    lines = raw.split(b"\r\n")
    assert max(map(len, lines)) <= 998
    assert not any(b"\r" in each or b"\n" in each for each in lines)


def test_the_texts_stay_alternatives_beside_the_files() -> None:
    two = enclosed("a.pdf", b"1"), enclosed("b.txt", b"2", "text/plain")
    read = parsed(written(*two))
    assert [part.get_content_type() for part in read.walk()] == [
        "multipart/mixed",
        "multipart/alternative",
        "text/plain",
        "text/html",
        "application/pdf",
        "text/plain",
    ]
    body = read.get_body(("html",))
    assert body is not None
    assert "Thank you" in body.get_content()
    assert [part.get_content_disposition() for part in read.iter_attachments()] == [
        "attachment"
    ] * 2


def test_a_boundary_neither_stands_in_a_file_nor_begins_another() -> None:
    """RFC 2046, 5.1.1: a reader may compare the beginning of a line and look no further."""
    raw = written(enclosed("a.txt", b"--=_m3f786850\r\n--=_3f786850\r\n"))
    read = parsed(raw)
    outer, inner = (part.get_boundary() or "" for part in read.walk() if part.is_multipart())
    assert not outer.startswith(inner)
    assert not inner.startswith(outer)
    lines = raw.split(b"\r\n")
    marked = [line for line in lines if line.startswith(b"--=_")]
    assert len(marked) == 2 + 1 + 2 + 1


@pytest.mark.parametrize("size", [1, 56, 57, 58, 76, 114, 100_000])
def test_the_same_file_is_the_same_bytes(size: int) -> None:
    content = bytes(index % 256 for index in range(size))
    assert written(enclosed("a.pdf", content)) == written(enclosed("a.pdf", content))
    assert written(enclosed("a.pdf", content)) != written(enclosed("b.pdf", content))
