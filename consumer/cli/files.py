"""Files of events: one JSON object, an array of them, or one a line; and the bytes of each.

Every value is cut out of the file as it stands, never written anew: numbers keep their digits, and
what is published is what a person sees in the file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from consumer.cli.app import StopError

_DECODER = json.JSONDecoder()
_SPACE = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Piece:
    """One event of a file. `line`: where it begins, counted from 1."""

    file: Path
    line: int
    value: bytes

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"


def read_pieces(file: Path) -> list[Piece]:
    """Cut a file into its events. Raises `StopError` for what cannot be read or is no JSON."""
    text = _text(file)
    pieces, line, counted = [], 1, 0
    for start, end in _spans(file, text):
        line += text.count("\n", counted, start)
        counted = start
        pieces.append(Piece(file, line, _bytes(text[start:end])))
    if not pieces:
        raise StopError(f"{file}: holds no event", code=2)
    return pieces


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise StopError(f"{file}: {error.strerror}", code=2) from error


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _spans(file: Path, text: str) -> list[tuple[int, int]]:
    at = _skip(text, 0)
    if text[at : at + 1] == "[":
        return _elements(file, text, at + 1)
    spans = []
    while at < len(text):
        end = _value_end(file, text, at)
        spans.append((at, end))
        at = _skip(text, end)
    return spans


def _elements(file: Path, text: str, at: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    at = _skip(text, at)
    while text[at : at + 1] != "]":
        end = _value_end(file, text, at)
        spans.append((at, end))
        at = _skip(text, end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != "]":
            raise _no_json(file, text, at)
    if _skip(text, at + 1) < len(text):
        raise _no_json(file, text, at + 1)
    return spans


def _value_end(file: Path, text: str, at: int) -> int:
    try:
        return _DECODER.raw_decode(text, at)[1]
    except (json.JSONDecodeError, RecursionError) as error:
        raise _no_json(file, text, getattr(error, "pos", at)) from None


def _no_json(file: Path, text: str, at: int) -> StopError:
    message = f"{file}:{_line(text, at)}: no JSON object, array of objects, or object a line"
    return StopError(message, code=2)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
