"""What providers tell by themselves, and what upstream has yet to hear."""

from __future__ import annotations

from consumer.guard.telling import Settled
from consumer.model import Notice, Row, Status
from tests.simulation.store_outcomes import OnDouble
from tests.simulation.store_tables import Database, Happening

TELLABLE = (Status.SENT, Status.FAILED, Status.DISCARDED, Status.EXPIRED)


def hear(db: Database, notice: Notice, on_double: OnDouble) -> bool:
    """Take a webhook's event. False: no such key."""
    raise NotImplementedError


def outcomes_due(db: Database, limit: int) -> list[Settled]:
    """Rows that were settled late, with the record they were claimed for, from its letter."""
    due = []
    for letter in db.letters.values():
        row = None if letter.key is None else db.rows.get(letter.key)
        if row is not None and row.at == letter.at and row.outcome_due and row.status in TELLABLE:
            due.append(Settled(row.read(db.now), letter.record))
    return due[:limit]


def outcome_told(db: Database, row: Row) -> None:
    now = db.rows.get(row.key)
    if now is not None and now.epoch == row.epoch:
        now.outcome_due = False


def news_due(db: Database, limit: int) -> list[Happening]:
    return [line for line in db.history if line.due][:limit]


def news_told(db: Database, news_id: int) -> None:
    for line in db.history:
        if line.id == news_id:
            line.due = False
