"""A mail as an SMTP server gets it: what is wrong with it, and what it brings along."""

from __future__ import annotations

from email import message_from_string, policy
from email.message import EmailMessage

from aiosmtpd.smtp import Envelope

from tests.doubles.brought import Brought, file_of

ONCE = ("From", "To", "Subject", "Message-ID", "Date", "MIME-Version")  # RFC 5322, 3.6


def parsed(content: bytes) -> EmailMessage:
    mail = message_from_string(content.decode(), policy=policy.SMTPUTF8)
    assert isinstance(mail, EmailMessage)
    return mail


def brought(mail: EmailMessage) -> Brought:
    """Read the files of a mail, as a reader's own program would."""
    parts = [(part, part.get_payload(decode=True)) for part in mail.iter_attachments()]
    return Brought(
        tuple(
            file_of(part.get_filename() or "", part.get_content_type(), content)
            for part, content in parts
            if isinstance(content, bytes)
        )
    )


def found_wrong(content: bytes, envelope: Envelope) -> str | None:
    """RFC 5322 and RFC 5321, as far as a mail can break them."""
    if b"\n" in content.replace(b"\r\n", b"") or b"\r" in content.replace(b"\r\n", b""):
        return "a line end that is not CRLF"
    if any(len(line) > 998 for line in content.split(b"\r\n")):
        return "a line over 998 octets"
    if not content.isascii() and not envelope.smtp_utf8:
        return "eight bits that were not announced"
    mail = parsed(content)
    if any(len(mail.get_all(name, [])) != 1 for name in ONCE) or mail["Bcc"]:
        return "a header is missing, or there twice"
    if [address.addr_spec for address in mail["To"].addresses] != envelope.rcpt_tos:
        return "addressed to somebody else"
    return None
