"""What may stand in a header, and how a mailbox is written where a provider takes only a string."""

from __future__ import annotations

import re
from itertools import chain
from typing import Final

from consumer.model import Address, Message, Rejected

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
    if _breaks(_header_bound(message)):
        return Rejected(f"{_broken(message)} holds a line break or NUL")
    for name, address in _mailboxes(message):
        if not _MAILBOX.fullmatch(address.email):
            return Rejected(f"{name} is not one plain address")
        if not utf8_local and not address.email.isascii():
            return Rejected(f"{name} is not ASCII, which the provider does not take")
    for name, _ in message.headers:
        if not _HEADER_NAME.fullmatch(name) or name.casefold() in _OURS:
            return Rejected("a header's name is malformed or reserved")
    return None


def _breaks(text: str) -> bool:
    return "\n" in text or "\r" in text or "\0" in text


def mailbox(address: Address) -> str:
    """Write `"Byte, Ada" <ada@example.com>`; the quotes keep a comma from making two recipients."""
    if not address.name:
        return address.email
    return f"{quoted(address.name)} <{address.email}>"


def quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _mailboxes(message: Message) -> list[tuple[str, Address]]:
    boxes = [("sender", message.sender), ("recipient", message.to)]
    return boxes if message.reply_to is None else [*boxes, ("reply_to", message.reply_to)]


def _header_bound(message: Message) -> str:
    """Join whatever may come to stand in a header: one text is searched quicker than ten."""
    texts = [message.subject, message.message_id, message.key, *message.tags]
    for _, box in _mailboxes(message):
        texts += box.name, box.email
    texts += chain.from_iterable(message.headers)
    texts += chain.from_iterable(message.options.items())
    return "".join(texts)


def _broken(message: Message) -> str:
    """Name what `_header_bound` found a break in."""
    named = [("subject", message.subject)]
    named += [(name, box.name + box.email) for name, box in _mailboxes(message)]
    named += [("a header", name + value) for name, value in message.headers]
    return next(
        (name for name, text in named if _breaks(text)),
        "a tag, an option, the message id or the key",
    )
