"""What is written as .eml reads the same in two parsers that share no code.

The standard library's, and one written in Rust (`fast-mail-parser`), which knows nothing of ours.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from email import message_from_bytes, policy
from email.message import EmailMessage

import pytest
from fast_mail_parser import parse_email

from consumer.model import Attachment, Enclosed, Message
from consumer.providers import mime
from tests.unit.catalogue.shop import message_of, real_catalogue
from tests.unit.catalogue.test_shipped import example, reset

PDF = b"%PDF-1.7\n" + bytes(range(256)) * 40
INVOICE = Attachment(
    "Rechnung Nr. 4711 · فاتورة.pdf",
    "application/pdf",
    hashlib.sha256(PDF).hexdigest(),
    "https://files.shop.example/4711.pdf",
    2_000_000,
    ("files.shop.example",),
)
NAMES = ("german", "french", "japanese", "arabic", "two-hundred-items")


def receipt(name: str) -> Message:
    return message_of(real_catalogue(), example("order.receipt", name))


def mails() -> dict[str, tuple[Message, tuple[Enclosed, ...]]]:
    """Return every language of both mails, and each receipt with a file of a difficult name."""
    plain = {name: (receipt(name), ()) for name in NAMES}
    resets = {f"reset {name}": (reset(example("password.reset", name)), ()) for name in NAMES[:4]}
    enclosed = (Enclosed(INVOICE, PDF),)
    files = {
        f"{name} with a file": (replace(message, attachments=(INVOICE,)), enclosed)
        for name, (message, _) in plain.items()
    }
    return {**plain, **resets, **files}


MAILS = mails()


@pytest.mark.parametrize("name", MAILS)
def test_the_standard_library_reads_what_was_written(name: str) -> None:
    message, enclosed = MAILS[name]
    mail = message_from_bytes(mime.render(message, enclosed), policy=policy.default)
    assert isinstance(mail, EmailMessage)
    assert mail["Subject"] == message.subject
    text, html = mail.get_body(("plain",)), mail.get_body(("html",))
    assert text is not None
    assert html is not None
    assert text.get_content().replace("\r\n", "\n") == message.text
    assert html.get_content().replace("\r\n", "\n").rstrip("\n") == message.html.rstrip("\n")
    files = list(mail.iter_attachments())
    assert [one.get_filename() for one in files] == [one.attachment.name for one in enclosed]
    assert [one.get_content() for one in files] == [one.content for one in enclosed]
    assert not [part.defects for part in mail.walk() if part.defects]


@pytest.mark.parametrize("name", MAILS)
def test_a_parser_that_is_none_of_pythons_reads_the_same(name: str) -> None:
    message, enclosed = MAILS[name]
    mail = parse_email(mime.render(message, enclosed))
    assert mail.subject == message.subject
    [text], [html] = mail.text_plain, mail.text_html
    assert text.replace("\r\n", "\n") == message.text
    assert html.replace("\r\n", "\n").rstrip("\n") == message.html.rstrip("\n")
    assert [bytes(one.content) for one in mail.attachments] == [one.content for one in enclosed]
    assert [one.mimetype for one in mail.attachments] == ["application/pdf"] * len(enclosed)
