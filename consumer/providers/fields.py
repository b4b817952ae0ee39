"""What may stand in a header, and how a mailbox is written where a provider takes only a string."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from consumer.model import Address, Message, Rejected

_BREAKS: Final = re.compile(r"[\r\n\x00]")
_HEADER_NAME: Final = re.compile(r"[!-9;-~]{1,126}")  # RFC 5322 ftext; SES allows 126 characters
_MAILBOX: Final = re.compile(r"[^\s\"(),:;<>@\[\\\]]+@[^\s\"(),:;<>@\[\\\]]+")
_OURS: Final = frozenset(
    {
        "bcc",
        "cc",
        "content-transfer-encoding",
        "content-type",
        "date",
        "from",
        "message-id",
        "mime-version",
        "reply-to",
        "resent-to",
        "sender",
        "subject",
        "to",
    }
)


def refuse(message: Message, *, utf8_local: bool) -> Rejected | None:
    """Find what must not reach a provider: smuggled headers, a second recipient.

    `utf8_local`: the provider takes a non-ASCII local part. Where it does not, the address is
    refused and never rewritten: without its accents it may be another person's.
    """
    bound = list(_header_bound(message))
    if _BREAKS.search("".join([value for _, value in bound])):  # nearly never
        name = next(name for name, value in bound if _BREAKS.search(value))
        return Rejected(f"{name} holds a line break or NUL")
    for name, address in _mailboxes(message):
        if not _MAILBOX.fullmatch(address.email):
            return Rejected(f"{name} is not one plain address")
        if not utf8_local and not address.email.isascii():
            return Rejected(f"{name} is not ASCII, which the provider does not take")
    for name, _ in message.headers:
        if not _HEADER_NAME.fullmatch(name) or name.casefold() in _OURS:
            return Rejected("a header's name is malformed or reserved")
    return None


def mailbox(address: Address) -> str:
    """Write `"Byte, Ada" <ada@example.com>`; the quotes keep a comma from making two recipients."""
    if not address.name:
        return address.email
    return f"{quoted(address.name)} <{address.email}>"


def quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _mailboxes(message: Message) -> Iterator[tuple[str, Address]]:
    yield "sender", message.sender
    yield "recipient", message.to
    if message.reply_to is not None:
        yield "reply_to", message.reply_to


def _header_bound(message: Message) -> Iterator[tuple[str, str]]:
    yield "subject", message.subject
    yield "message_id", message.message_id
    yield "key", message.key
    for name, address in _mailboxes(message):
        yield name, address.name
        yield name, address.email
    for name, value in message.headers:
        yield "a header", name
        yield "a header", value
    for tag in message.tags:
        yield "a tag", tag
    for name, value in message.options.items():
        yield "an option", name
        yield "an option", value
