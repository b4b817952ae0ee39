"""Which mail a person had made again as which, read from the histories of both keys."""

from __future__ import annotations

from dataclasses import replace

from consumer.guard.history import Entry, entry
from consumer.guard.links import BORN, RESENT
from consumer.model import Row
from tests.simulation.store_tables import Database

KEY = 48  # characters: a line of a link begins with the other key


def write(db: Database, old: Row, new: str, note: str, *, due: bool) -> None:
    db.write_line(replace(entry(old, RESENT, f"{new} {note}"), due=due))
    db.write_line(Entry(new, BORN, None, None, 1, 0, detail=f"{old.key} {note}"))


def after(db: Database, key: str) -> str | None:
    return _linked(db, key, RESENT)


def placed(db: Database, row: Row) -> Row:
    """Return a row with its record's coordinates, also where the mail was made again since."""
    if row.coordinates is not None:
        return row
    newest = db.rows.get(_newest(db, row.key))
    return row if newest is None else replace(row, coordinates=newest.at)


def _newest(db: Database, key: str) -> str:
    seen = [key]
    while (newer := after(db, seen[-1])) and newer not in seen:
        seen.append(newer)
    return seen[-1]


def _linked(db: Database, key: str, event: str) -> str | None:
    lines = (line for line in db.history if line.key == key and line.entry.event == event)
    first = next(lines, None)
    return None if first is None else first.entry.detail[:KEY]
