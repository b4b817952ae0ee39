"""One event dictionary to one line of JSON: never raises, never shows an address.

A log line stands between two steps of a send. If writing it could fail, a number of 20 digits in
an event could stop a mail. So the quick way is tried first, and whatever it cannot take is
rewritten until it fits. Objects that are not plain values are shown by the name of their type: the
`repr` of a mail would print the person it goes to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from itertools import islice
from pathlib import PurePath
from typing import Final

import orjson

_DEPTH: Final = 8  # deeper than any line of ours; a value that holds itself must end somewhere
_MEMBERS: Final = 100  # of one list or object: a line is for people
_OPTIONS: Final = (
    orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_UTC_Z
)
_UNWRITABLE: Final = b'{"level":"error","event":"log line could not be written"}'


def to_line(event: Mapping[str, object]) -> bytes:
    """JSON without a line break at its end."""
    return hide_addresses(_dumps(event))


def _dumps(event: Mapping[str, object]) -> bytes:
    try:
        return orjson.dumps(event, default=_describe, option=_OPTIONS)
    except Exception:  # noqa: BLE001 - whatever a value's own code raises, the send goes on
        return _dumps_rewritten(event)


def _dumps_rewritten(event: Mapping[str, object]) -> bytes:
    try:
        return orjson.dumps(_plain(event, _DEPTH))
    except Exception:  # noqa: BLE001 - whatever it raises, the send goes on
        return _UNWRITABLE


def _describe(value: object) -> object:
    match value:
        case str():  # a subclass, StrEnum among them
            return str.__str__(value)
        case bytes() | bytearray() | memoryview():
            return f"<{len(value)} bytes>"
        case BaseException():
            return f"{type(value).__name__}: {value}"
        case datetime():
            return value.isoformat()
        case PurePath():
            return str(value)
        case set() | frozenset():
            return list(value)
        case _:
            return f"<{type(value).__name__}>"


def _plain(value: object, depth: int) -> object:
    """Rewrite a value to what JSON surely takes: no lone surrogates, integers of 64 bits."""
    match value:
        case None | bool() | float():
            return value
        case int():
            return int(value) if -(2**63) <= value < 2**63 else _digits(value)
        case str():
            return str.encode(value, "utf-8", "backslashreplace").decode()
        case _:
            return _plain_inside(value, depth) if depth else f"<{type(value).__name__}>"


def _plain_inside(value: object, depth: int) -> object:
    if isinstance(value, Mapping):
        members = islice(value.items(), _MEMBERS)
        return {str(_plain(k, 0)): _plain(v, depth - 1) for k, v in members}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(v, depth - 1) for v in islice(value, _MEMBERS)]
    return _plain(_described_safely(value), depth - 1)


def _digits(value: int) -> str:
    """Hexadecimal, since Python refuses to print decimals of more than 4,300 digits."""
    text = hex(value)
    return text if len(text) <= _MEMBERS else f"<integer of {value.bit_length()} bits>"


def _described_safely(value: object) -> object:
    try:
        return _describe(value)
    except Exception:  # noqa: BLE001 - a __str__ may raise anything
        return f"<{type(value).__name__}>"


# Belt and braces: nobody logs an address on purpose, but an exception of a library may quote one.
# The scan walks over whole JSON escapes and whole words, so it is linear and keeps the JSON valid.
_WORD: Final = re.compile(rb'\\u[0-9a-fA-F]{4}|\\.|[^\s"\\<>(),;:=/\[\]{}]++')


def hide_addresses(line: bytes) -> bytes:
    """Mask every word that looks like an address (or `user:secret@host`)."""
    if b"@" not in line and b"%40" not in line:
        return line
    return _WORD.sub(_hide, line)


def _hide(word: re.Match[bytes]) -> bytes:
    text = word[0]
    return b"[address]" if b"@" in text or b"%40" in text else text
