"""Where in a TOML file a member is written, so that a problem can name its line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_TABLE = re.compile(r"\s*(\[+)\s*([^\]]+?)\s*\]+")
_MEMBER = re.compile(
    r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*="""
)


def lines_of(text: str) -> dict[tuple[str, ...], int]:
    """Map each table and member, by its full name, to its line (the first, where it is twice).

    Tables of a list (`[[key]]`) are named with their number, from 0 on.
    """
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    times: Counter[tuple[str, ...]] = Counter()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _TABLE.fullmatch(line.partition("#")[0].rstrip()):
            table = _names(header[2])
            lines.setdefault(table, number)
            if header[1] == "[[":
                times[table] += 1
                table = (*table, str(times[table] - 1))
                lines[table] = number
        elif member := _MEMBER.match(line):
            lines.setdefault(table + _names(member[1]), number)
    return lines


def line_of(lines: dict[tuple[str, ...], int], place: Sequence[str | int]) -> int:
    """Return the line of the member, else of the nearest table around it, else 0."""
    names = tuple(str(part) for part in place)
    for end in range(len(names), 0, -1):
        if line := lines.get(names[:end]):
            return line
    return 0


def _names(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))
