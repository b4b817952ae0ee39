"""Where an address stands in what is kept: in texts, and in records of whatever encoding. Pure.

An address inside a longer one is another person's: nada@example.com does not mention
ada@example.com.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import idna

from consumer.keys import canonical_recipient
from consumer.model import Record

CUT: Final = "(forgotten)"
_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})")
_PERCENT: Final = re.compile(r"%([0-7][0-9a-fA-F])")


@dataclass(frozen=True, slots=True)
class Mentions:
    """`forms`: the address in lower case, its domain in ASCII and as people write it."""

    forms: tuple[str, ...]
    pattern: re.Pattern[str]

    def in_text(self, text: str) -> bool:
        return self.pattern.search(text) is not None

    def cut_from(self, text: str) -> str:
        return self.pattern.sub(CUT, text)

    def in_record(self, record: Record) -> bool:
        """Tell whether key, value or a header mentions it, escaped as JSON or a link escapes."""
        parts = [record.key, record.value]
        parts += [part for name, value in record.headers for part in (_bytes(name), value)]
        return any(self._in_bytes(part) for part in parts if part)

    def _in_bytes(self, part: bytes) -> bool:
        """Also in UTF-16, whose every second byte is null where text is Latin."""
        text = part.decode("utf-8", "replace")
        thin = part.replace(b"\0", b"").decode("utf-8", "replace")
        return any(self.in_text(one) for one in (text, thin, _plain(text)))


def mentions_of(address: str) -> Mentions:
    """Raises `AddressError` for all that is not one address."""
    local, _, domain = canonical_recipient(address).lower().rpartition("@")
    forms = tuple(dict.fromkeys((f"{local}@{domain}", f"{local}@{_as_written(domain)}")))
    either = "|".join(map(re.escape, forms))
    whole = rf"(?<![\w.+-])(?:{either})(?![\w-]|\.\w)"
    return Mentions(forms, re.compile(whole, re.IGNORECASE))


def _as_written(domain: str) -> str:
    try:
        return idna.decode(domain)
    except idna.IDNAError:
        return domain


def _plain(text: str) -> str:
    r"""Undo \u0040 and %40."""
    undone = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
    return _PERCENT.sub(lambda found: chr(int(found[1], 16)), undone)


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")
