"""Lists of mails that another sender sent: CSV with a header line, or one JSON object a line.

A line is read by itself: whatever is wrong with one, an open quote too, is that line's trouble, and
the next one is read as if nothing had been. Lists may be long, so they are read as they are needed.
"""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import orjson

from consumer.cli.app import StopError
from consumer.guard.imports import Past
from consumer.listed import MEMBERS, NEEDED, PastReader, UnusableError

_PART: Final = re.compile(r"entity_[1-9]")
_BOM: Final = b"\xef\xbb\xbf"
_FOREIGN: Final = (  # what such a file has in its first line, and what it is then
    (re.compile(rb"PK\x03\x04"), "a workbook of Excel, or a ZIP archive"),
    (re.compile(rb"\x1f\x8b"), "compressed by gzip"),
    (re.compile(rb"\xff\xfe|\xfe\xff|[^\0]?\0"), "UTF-16"),
)
_COMMAS: Final = """\
save the list with commas (LibreOffice asks for the separator, Excel takes the one of the system's \
regional settings)"""
_SEPARATORS: Final = {";": "semicolons", "\t": "tabs", "|": "bars"}

Members = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Line:
    """`members`, or `problem`: why nothing can be read of it. `bytes`: how much of the file."""

    place: str
    bytes: int
    members: Members | None = None
    problem: str = ""


def read_list(file: Path) -> Iterator[Line]:
    """Yield each line that is not blank. Raises `StopError` for a file that is no such list."""
    read: Callable[[str], Members] | None = None
    for number, raw in enumerate(_raw(file), 1):
        if not raw.strip():
            continue
        if read is None and (foreign := _foreign(raw)):
            text = f"{file}: is {foreign}, and UTF-8 is read: save it as 'CSV UTF-8', or JSON lines"
            raise StopError(text, code=2)
        if read is not None:
            yield _line(f"{file}:{number}", raw, read)
        elif raw.lstrip().startswith(b"{"):
            read = _object
            yield _line(f"{file}:{number}", raw, read)
        else:
            read = _columns(file, number, raw)
    if read is None:
        raise StopError(f"{file}: is empty", code=2)


def _foreign(first: bytes) -> str | None:
    return next((what for mark, what in _FOREIGN if mark.match(first)), None)


def _raw(file: Path) -> Iterator[bytes]:
    try:
        with file.open("rb") as stream:
            first = stream.readline()
            yield first.removeprefix(_BOM)
            yield from stream
    except OSError as error:
        raise StopError(f"{file}: {error.strerror}", code=2) from None


def _line(place: str, raw: bytes, read: Callable[[str], Members]) -> Line:
    try:
        return Line(place, len(raw), read(raw.decode()))
    except UnicodeDecodeError:
        return Line(place, len(raw), problem="is not UTF-8: save the list in that encoding")
    except ValueError as error:
        return Line(place, len(raw), problem=str(error))


@dataclass(frozen=True, slots=True)
class BadLine:
    place: str
    reason: str


def mails(
    lines: Iterable[Line], reading: PastReader, bad: list[BadLine]
) -> Iterator[tuple[str, Past]]:
    """Yield the mails that the lines tell of, each with its place; the others go to `bad`."""
    for line in lines:
        try:
            if line.members is not None:
                yield line.place, reading.past(line.members)
                continue
            problem = line.problem
        except UnusableError as unusable:
            problem = str(unusable)
        bad.append(BadLine(line.place, problem))


# ── JSON lines


def _object(text: str) -> Members:
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        raise ValueError("is no JSON object on one line") from None
    match found:
        case dict() if unknown := found.keys() - set(MEMBERS):
            raise ValueError(_unknown(min(unknown)))
        case dict():
            return found
        case _:
            raise ValueError("is no JSON object")


# ── CSV


def _columns(file: Path, number: int, raw: bytes) -> Callable[[str], Members]:
    """Read the header; return what reads a line under it."""
    try:
        header = [name.strip() for name in _cells(raw.decode())]
    except ValueError as error:
        raise StopError(f"{file}:{number}: {error}", code=2) from None
    if problem := _header_problem(header):
        raise StopError(f"{file}:{number}: {problem}", code=2)

    def read(text: str) -> Members:
        cells = _cells(text)
        if len(cells) != len(header):
            raise ValueError(f"has {len(cells)} columns, the header has {len(header)}")
        return _members(header, cells)

    return read


def _cells(text: str) -> list[str]:
    try:
        return next(csv.reader([text], strict=True))
    except csv.Error as error:
        raise ValueError(f"is no CSV: {error}") from None


def _header_problem(header: Sequence[str]) -> str | None:
    parts = [name for name in header if _PART.fullmatch(name)]
    for mark, named in _SEPARATORS.items():
        if len(header) == 1 and mark in header[0]:
            return f"the columns are separated by {named}: {_COMMAS}"
    if unknown := [name for name in header if name not in {*MEMBERS, *parts}]:
        return f"the header line {_unknown(unknown[0])}"
    if len(set(header)) < len(header):
        return "the header line names a column twice"
    in_order = parts == [f"entity_{number}" for number in range(1, len(parts) + 1)]
    if not in_order or (parts and "entity" in header):
        return "the header line has either entity, or entity_1, entity_2 .. in their order"
    missing = set(NEEDED) - {*header, *(["entity"] if parts else [])}
    return f"the header line has no column {min(missing)}" if missing else None


def _unknown(name: str) -> str:
    close = difflib.get_close_matches(name, MEMBERS, n=1)
    hint = f"; did you mean {close[0]}?" if close else f"; known are {', '.join(MEMBERS)}"
    return f"names {name[:40]!r}, which nobody reads{hint}"


def _members(header: Sequence[str], cells: Sequence[str]) -> Members:
    named: dict[str, object] = dict(zip(header, cells, strict=True))
    parts = [cell for name, cell in zip(header, cells, strict=True) if _PART.fullmatch(name)]
    return {**named, "entity": parts} if parts else named
