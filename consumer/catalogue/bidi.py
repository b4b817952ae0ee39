"""Two writing directions in one mail: what keeps them from turning each other round.

Text from events is made safe for reading once, before any template sees it: overrides of the
writing direction are taken out, and whatever is written from right to left is isolated, so that a
name cannot turn the words around it. Other control characters are refused.

In a mail that itself is written from right to left, what is printed from left to right (an order's
number, an amount, a product's name) is isolated as it is printed. Not before: templates compare
values, and filters read them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from consumer.catalogue.canonical import canonical
from consumer.model import Json


class PrintError(ValueError):
    """A value that may not be printed; the text holds no value."""


_CONTROLS: Final = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_OVERRIDES: Final = "\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c"
_RIGHT_TO_LEFT: Final = (
    "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
)
_CONTROL = re.compile(f"[{_CONTROLS}]")
_OVERRIDE = re.compile(f"[{_OVERRIDES}]")
_RTL = re.compile(f"[{_RIGHT_TO_LEFT}]")
_LEFT_TO_RIGHT = re.compile(rf"(?![{_RIGHT_TO_LEFT}])[^\W_]")
# Canonical JSON writes a control character as an escape; \t, \n and \r have their own.
_NOTABLE = re.compile(rf"\\u00|[\x7f-\x9f{_OVERRIDES}{_RIGHT_TO_LEFT}]")

ISOLATE, END_ISOLATE = "\u2068", "\u2069"
RIGHT_TO_LEFT: Final = "\u200f"  # invisible; a line that begins with it runs from right to left
_LINKS: Final = ("https://", "http://", "mailto:")
_TAG = re.compile(r"<[^>]*>")
_MARKS = {ord(mark): None for mark in (ISOLATE, END_ISOLATE)}


def readable(context: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the context with its text made safe for reading; most contexts are so already."""
    written = canonical(context)
    plain = written.isascii() and b"\\u00" not in written and b"\x7f" not in written
    if plain or not _NOTABLE.search(written.decode()):
        return context
    return {name: _readable(value) for name, value in context.items()}


def _readable(value: Json) -> Json:
    if isinstance(value, str):
        return _isolated(value)
    if isinstance(value, Mapping):
        return {name: _readable(below) for name, below in value.items()}
    return [_readable(below) for below in value] if isinstance(value, list) else value


def _isolated(text: str) -> str:
    if _CONTROL.search(text):
        raise PrintError("the context holds a control character")
    text = _OVERRIDE.sub("", text)
    return f"{ISOLATE}{text}{END_ISOLATE}" if _RTL.search(text) else text


def kept_together(text: str) -> str:
    """Isolate what is written from left to right, unless it is one word, a link, or isolated."""
    if text.isalpha() or ISOLATE in text or text.startswith(_LINKS):
        return text
    return f"{ISOLATE}{text}{END_ISOLATE}" if _LEFT_TO_RIGHT.search(text) else text


def bare(text: str) -> str:
    """Take isolation off again, where text is not for reading: a link, an attribute."""
    return text.translate(_MARKS)


def without_marks_in_tags(html: str) -> str:
    """Inside a tag isolation has no meaning, and would be part of a link."""
    return _TAG.sub(lambda tag: bare(tag[0]), html) if ISOLATE in html else html


def from_right_to_left(text: str) -> str:
    """Have each line of a text part run from right to left, whatever it begins with."""
    return "\n".join(_line(line) for line in text.split("\n"))


def _line(line: str) -> str:
    return line if not line or line.lstrip().startswith(_LINKS) else RIGHT_TO_LEFT + line
