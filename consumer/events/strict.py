r"""JSON read so that no two readers can disagree about it.

Refused: members that stand twice (also `recipient` beside `\u0072ecipient`), NaN, Infinity and
numbers beyond a double, NUL and lone surrogates in strings, anything but UTF-8, more than
`MAX_DEPTH` levels, `MAX_DIGITS` digits, `MAX_BYTES` bytes. Integers are exact, whatever their
size. One UTF-8 byte order mark is dropped.

The quick reader (orjson) is right about nearly every record, and what it says is taken only where
it can be proved right: it keeps the last of two equal members and turns long integers into
floats. The rest goes to the careful reader, which also finds the place of what is wrong.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from consumer.model import Json

MAX_BYTES: Final = 1_048_576  # what Kafka itself takes by default
MAX_DEPTH: Final = 64
MAX_DIGITS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What is wrong, and where: `path` is like ".data.lines[2]", empty for the whole."""

    problem: str
    path: str = ""

    def at(self, what: str) -> str:
        return f"{what}{self.path} {self.problem}"


def read_json(value: bytes, max_bytes: int = MAX_BYTES) -> Json | Unreadable:
    """Read one JSON value. Objects are plain dicts and arrays lists, none shared or cached."""
    if len(value) > max_bytes:
        return Unreadable(f"is longer than {max_bytes} bytes")
    try:
        tree: Json = orjson.loads(value)
    except orjson.JSONDecodeError:
        return _read_carefully(value)
    return tree if _is_exact(tree, value) else _read_carefully(value)


# ── The quick reader's proof

_BEYOND_INT64 = 2.0**63  # orjson reads an integer as a float from here on
_DOUBTFUL = -1


def _is_exact(tree: Json, value: bytes) -> bool:
    """Tell whether nothing was lost in reading. A wrong doubt costs time; there is no wrong trust.

    Text without white space still has all its members, names and numbers, so if the tree written
    out is the same text, all of them are in the tree. Numbers and escapes have several spellings;
    then members are counted: a colon after a quote stands for each, and more only in strings.
    """
    if b"\\" in value and rb"\u0000" in value:
        return False
    written = _written(tree, value)
    if written == value:
        return True
    bare = value.translate(None, b" \t\n\r")
    # of white space, what orjson writes has spaces only (in strings; a tab there is escaped)
    return written.replace(b" ", b"") == bare or bare.count(b'":') == _count_members(tree)


def _written(tree: Json, value: bytes) -> bytes:
    """Write the tree out, or nothing (which no value is) if it may be too deep; or only wide."""
    if value.count(b"{") + value.count(b"[") > MAX_DEPTH:
        return b""
    return orjson.dumps(tree)


def _count_members(tree: Json) -> int:
    """Count the members of all objects, a level at a time; `_DOUBTFUL` for what may be lossy."""
    members, depth = 0, 0
    level: list[Any] = [[tree]]
    while level and depth <= MAX_DEPTH:
        below: list[Any] = []
        for node in level:
            if type(node) is dict:
                members += len(node)
            if not _gather(node.values() if type(node) is dict else node, below):
                return _DOUBTFUL
        level = below
        depth += 1
    return _DOUBTFUL if level else members


def _gather(children: Iterable[Any], below: list[Any]) -> bool:
    """Put the containers among them into `below`; False at a float that may be an integer."""
    for child in children:
        kind = type(child)
        if kind is str or kind is int:  # most of them
            continue
        if kind is dict or kind is list:
            below.append(child)
        elif kind is float and not -_BEYOND_INT64 < child < _BEYOND_INT64:
            return False
    return True


# ── The careful reader

_MARK = b"\xef\xbb\xbf"
_SURROGATE = re.compile("[\ud800-\udfff]")
_SHOWN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,39}")  # names that can be printed as they are
_TOO_DEEP = f"is nested deeper than {MAX_DEPTH} levels"


@dataclass(frozen=True, slots=True)
class _Flaw:
    """Stands in the tree where something is wrong, until its path is known."""

    problem: str


def _read_carefully(value: bytes) -> Json | Unreadable:
    try:
        tree: Json = _JSON.decode(value.removeprefix(_MARK).decode())
    except UnicodeDecodeError as error:
        return Unreadable(f"is not UTF-8 (byte {error.start})")
    except json.JSONDecodeError as error:
        return Unreadable(f"is not JSON (character {error.pos})")
    except RecursionError:
        return Unreadable(_TOO_DEEP)
    return first_flaw(tree) or tree


def first_flaw(tree: Json) -> Unreadable | None:
    """Find what JSON could not hold, or we would not read, in a tree that came from elsewhere."""
    return _first_flaw(tree, depth=0)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Flaw:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    counted = Counter(name for name, _ in pairs)
    return _Flaw(f"has the member {_shown(counted.most_common(1)[0][0])} twice")


def _integer(digits: str) -> int | _Flaw:
    if len(digits) > MAX_DIGITS:
        return _Flaw(f"is an integer of more than {MAX_DIGITS} digits")
    return int(digits)


def _float(text: str) -> float | _Flaw:
    number = float(text)
    return number if math.isfinite(number) else _Flaw("is a number beyond the range of a double")


def _constant(_: str) -> _Flaw:
    return _Flaw("is NaN or Infinity, which is not JSON")


_JSON = json.JSONDecoder(
    object_pairs_hook=_members,
    parse_int=_integer,
    parse_float=_float,
    parse_constant=_constant,
)


def _first_flaw(node: Any, depth: int) -> Unreadable | None:
    """Search depth first, in the order of the text."""
    match node:
        case _Flaw():
            return Unreadable(node.problem)
        case str():
            return _string_flaw(node)
        case dict() | list() if depth == MAX_DEPTH:
            return Unreadable(_TOO_DEEP)
        case dict():
            return _member_flaw(node, depth + 1)
        case list():
            return _item_flaw(node, depth + 1)
        case _:
            return None


def _string_flaw(text: str) -> Unreadable | None:
    if "\0" in text:
        return Unreadable("holds a NUL character")
    if not text.isascii() and _SURROGATE.search(text):
        return Unreadable("holds a lone surrogate")
    return None


def _member_flaw(members: Mapping[str, Any], depth: int) -> Unreadable | None:
    for name, child in members.items():
        flaw = _string_flaw(name) or _first_flaw(child, depth)
        if flaw:
            return Unreadable(flaw.problem, f".{_shown(name)}{flaw.path}")
    return None


def _item_flaw(items: Iterable[Any], depth: int) -> Unreadable | None:
    for index, child in enumerate(items):
        if flaw := _first_flaw(child, depth):
            return Unreadable(flaw.problem, f"[{index}]{flaw.path}")
    return None


def _shown(name: str) -> str:
    return name if _SHOWN.fullmatch(name) else "?"
