"""The guard's tables as dicts: unique indexes, CHECK constraints, and the clock.

A row that breaks a CHECK raises `CheckViolationError`, for it is a bug wherever it is met; one that
breaks the unique index on coordinates raises `UniqueViolationError`, which the statements are made
for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from consumer.guard.history import Entry, plain
from consumer.model import Coordinates
from tests.simulation.store_columns import Line, Message, StoredLetter


class UniqueViolationError(Exception):
    """Two rows at the same coordinates. The statement that tried is undone."""


@dataclass(slots=True)
class Database:
    """All that Postgres holds for the guard."""

    now: float = 0.0
    rows: dict[str, Message] = field(default_factory=dict)
    places: dict[tuple[str, Coordinates], str] = field(default_factory=dict)
    letters: dict[tuple[Coordinates, str | None], StoredLetter] = field(default_factory=dict)
    history: list[Line] = field(default_factory=list)
    workers: dict[str, float] = field(default_factory=dict)
    letter_ids: int = 0
    history_ids: int = 0
    swept_until: float = -math.inf  # below: no row is open without a letter
    sweep_from: float = -math.inf

    def at_place(self, mail_type: str, at: Coordinates) -> Message | None:
        key = self.places.get((mail_type, at))
        return None if key is None else self.rows[key]

    def insert(self, row: Message) -> bool:
        """INSERT .. ON CONFLICT DO NOTHING, on either unique index. True: it is in."""
        place = row.place
        if row.key in self.rows or place in self.places:
            return False
        row.check()
        self.rows[row.key] = row
        if place is not None:
            self.places[place] = row.key
        return True

    def update(self, row: Message, **columns: Any) -> None:
        """Set columns of this row, the unique index and the CHECKs held."""
        if "at" in columns:
            self._move(row, columns["at"])
        for name, value in columns.items():
            setattr(row, name, value)
        row.check()

    def _move(self, row: Message, at: Coordinates | None) -> None:
        if at is not None and self.places.get((row.mail_type, at), row.key) != row.key:
            raise UniqueViolationError(row.key)
        if row.place is not None:
            del self.places[row.place]
        if at is not None:
            self.places[row.mail_type, at] = row.key

    def delete(self, row: Message) -> None:
        del self.rows[row.key]
        if row.place is not None:
            del self.places[row.place]

    def write_line(self, entry: Entry) -> None:
        """Write a line of history, or count it on one of the last four of its key."""
        entry = _cleaned(entry)
        line = Line(0, self.now, self.now, entry, entry.due)
        last = [item for item in self.history if item.key == entry.key][-4:]
        same = [item for item in last if item.told == line.told]
        if same:
            same[-1].times += 1
            same[-1].last_at = self.now
            same[-1].due = same[-1].due or entry.due
        else:
            self._append(line)

    def write_line_once(self, entry: Entry) -> bool:
        """Write what counts once by (key, event, provider, its id); False: it stands already."""
        entry = _cleaned(entry)
        once = (entry.key, entry.event, entry.provider, entry.provider_message_id)
        for item in self.history:
            it = item.entry
            if (it.key, it.event, it.provider, it.provider_message_id) == once:
                self.history_ids += 1  # an identity counts on, also where the row was there
                return False
        self._append(Line(0, self.now, self.now, entry, entry.due))
        return True

    def _append(self, line: Line) -> None:
        self.history_ids += 1
        line.id = self.history_ids
        self.history.append(line)


def _cleaned(entry: Entry) -> Entry:
    detail = plain(entry.detail)
    return entry if detail == entry.detail else replace(entry, detail=detail)
