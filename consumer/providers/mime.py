"""A message as RFC 5322 bytes: for the providers that take a whole mail (file, smtp, raw APIs).

Deterministic: the same message gives the same bytes, on every machine and in every release of
Python, so a repeat can be compared with the first attempt. That is why

* there is no `Date`. It would have to come from a clock, or name a moment that is not the
  sending. Submission servers add it (RFC 6409, section 8.2), and a file is not delivered;
* the boundaries are made of the key. They hold "=_", which neither quoted-printable nor base64 ever
  writes, and none begins with another, since a reader may look no further than that;
* encoded words are made here: the standard library's folding has changed between releases, and has
  joined two words without the space that keeps them readable.
"""

from __future__ import annotations

import binascii
import re
from base64 import encodebytes
from collections.abc import Iterator, Sequence
from email.header import Header
from typing import Final
from urllib.parse import quote

from consumer.model import Address, Enclosed, Message
from consumer.providers.fields import quoted

_LINE: Final = 76  # octets; RFC 5322 advises 78
_LINE_LIMIT: Final = 998  # octets; and forbids more
_GAPS: Final = re.compile(r"(?<=\S) (?=\S)")  # where a line may be folded


def render(message: Message, enclosed: Sequence[Enclosed] = ()) -> bytes:
    """Return the mail: CRLF line ends, no line over 998 octets, multipart/alternative.

    With files, that and they are the parts of a multipart/mixed.
    """
    top = "".join(f"{name}: {value}\r\n" for name, value in _headers(message)).encode()
    content = _bodies(message)
    if enclosed:
        files = [_file(each) for each in enclosed]
        content = _multipart("mixed", f"=_m{message.key}", [content, *files])
    return top + content


def _bodies(message: Message) -> bytes:
    parts = [_part("plain", message.text), _part("html", message.html)]
    return _multipart("alternative", f"=_{message.key}", parts)


def _multipart(subtype: str, boundary: str, parts: list[bytes]) -> bytes:
    """Return an entity: its Content-Type, an empty line, its parts."""
    top = f'Content-Type: multipart/{subtype};\r\n boundary="{boundary}"\r\n\r\n'.encode()
    mark = b"--" + boundary.encode()
    pieces = (piece for part in parts for piece in (mark, b"\r\n", part, b"\r\n"))
    return b"".join((top, *pieces, mark, b"--\r\n"))


def _headers(message: Message) -> Iterator[tuple[str, str]]:
    yield "From", _mailbox(message.sender)
    yield "To", _mailbox(message.to)
    if message.reply_to is not None:
        yield "Reply-To", _mailbox(message.reply_to)
    yield "Subject", unstructured("Subject", message.subject)
    yield "Message-ID", message.message_id
    for name, value in message.headers:
        yield name, unstructured(name, value)
    yield "MIME-Version", "1.0"


def unstructured(name: str, text: str) -> str:
    """Write free text into a header so that every reader gets exactly `text` back.

    Long plain text is folded where it has spaces and never encoded: it may be a `List-Unsubscribe`,
    in which an encoded word means nothing.
    """
    used = len(name) + len(": ")
    words = _GAPS.split(text)
    if not _plain(text) or used + max(map(len, words)) > _LINE_LIMIT:
        return _encoded(text, used)
    return _folded(words, used)


def _folded(words: list[str], used: int) -> str:
    """Break before a word that would not fit; what a reader unfolds is the one space that was."""
    lines = [words[0]]
    for word in words[1:]:
        room = _LINE - (used if len(lines) == 1 else 1)
        if len(lines[-1]) + 1 + len(word) <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return "\r\n ".join(lines)


def _mailbox(address: Address) -> str:
    if not address.name:
        return address.email
    short = len(address.name) + len(address.email) <= _LINE // 2
    name = quoted(address.name) if _plain(address.name) and short else _encoded(address.name, 10)
    return f"{name}\r\n <{address.email}>"


def _plain(text: str) -> bool:
    """Tell whether text means itself in a header: printable ASCII, nothing that looks encoded."""
    return text.isascii() and text.isprintable() and text == text.strip() and "=?" not in text


def _encoded(text: str, used: int) -> str:
    """Write RFC 2047 words, a line each; never split inside a character."""
    return Header(text, "utf-8", maxlinelen=_LINE, header_name="x" * (used - 2)).encode(
        linesep="\r\n"
    )


def _crlf(written: bytes) -> bytes:
    """`b2a_qp` breaks long lines with a bare LF where the text has no line end of its own."""
    return written.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def _part(subtype: str, text: str) -> bytes:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n")
    body = _crlf(binascii.b2a_qp(lines.encode(), istext=True))
    return (
        b"Content-Type: text/%b; charset=utf-8\r\n"
        b"Content-Transfer-Encoding: quoted-printable\r\n\r\n%b" % (subtype.encode(), body)
    )


# ── Files


def _file(enclosed: Enclosed) -> bytes:
    file = enclosed.attachment
    top = (
        f"Content-Type: {file.content_type}\r\n"
        f"Content-Disposition: attachment;{_filename(file.name)}\r\n"
        "Content-Transfer-Encoding: base64\r\n\r\n"
    )
    return top.encode() + encodebytes(enclosed.content).replace(b"\n", b"\r\n")


def _filename(name: str) -> str:
    """Write a parameter of a file's name, and in pieces where it is long (RFC 2231)."""
    if name.isascii():
        return f'\r\n filename="{name}"'
    pieces = _PIECES.findall(quote(name, safe=""))
    if len(pieces) == 1:
        return f"\r\n filename*=UTF-8''{pieces[0]}"
    first, *further = pieces
    lines = [f"\r\n filename*0*=UTF-8''{first}"]
    lines += [f"\r\n filename*{number}*={piece}" for number, piece in enumerate(further, 1)]
    return ";".join(lines)


_PIECES: Final = re.compile(r"(?:%[0-9A-F]{2}|[^%]){1,18}")  # never cut inside of an octet
