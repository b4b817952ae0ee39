"""Live workers, the sweep's finds, and pruning."""

from __future__ import annotations

import math

from consumer.guard.hearing import BAD_NEWS
from consumer.guard.letters import LetterStatus
from consumer.model import Reason, Row, Status
from tests.simulation.store_columns import (
    CLOSED_ROW,
    OPEN_LETTER,
    OPEN_ROW,
    Line,
    Message,
    StoredLetter,
)
from tests.simulation.store_tables import Database

CLOSED_LETTER = (LetterStatus.SETTLED, LetterStatus.DISCARDED, LetterStatus.REPLAYED)
FORGOTTEN = 3600.0  # seconds since the last beat
STALE = 600.0  # seconds since a lease died
# What an open letter says of a mail that came to an end; of a row that waits it is out of date.
ENDED = (Reason.UNKNOWN, Reason.EXHAUSTED, Reason.REJECTED, Reason.FUSED)


def beat(db: Database, owner: str, live_for: float) -> int:
    others = sum(1 for name, at in db.workers.items() if name != owner and at > db.now - live_for)
    db.workers = {name: at for name, at in db.workers.items() if at >= db.now - FORGOTTEN}
    db.workers[owner] = db.now
    return others + 1


def leave(db: Database, owner: str) -> None:
    db.workers.pop(owner, None)


def stale(db: Database, limit: int) -> list[Row]:
    """Open rows that no letter will wake, ten minutes after their lease; the mark never passes one.

    Read from where the last call ended to ten minutes ago; then from the mark again.
    """
    until = db.now - STALE
    found = [row for row in db.rows.values() if _is_left_open(db, row, until)]
    found.sort(key=lambda row: row.claimed_at)
    dead = [row for row in found if (row.lease_until or -math.inf) < until]
    if db.swept_until == db.sweep_from and db.sweep_from < until:
        db.swept_until = min((row.claimed_at for row in found), default=until)
    at_end = len(dead) <= limit
    db.sweep_from = db.swept_until if at_end else dead[limit].claimed_at
    return [row.read(db.now) for row in dead[:limit]]


def _is_left_open(db: Database, row: Message, until: float) -> bool:
    if row.status not in OPEN_ROW or not db.sweep_from <= row.claimed_at < until:
        return False
    letter = None if row.at is None else db.letters.get((row.at, row.mail_type))
    if row.status is Status.SENDING or letter is None or letter.status not in OPEN_LETTER:
        return True
    return letter.status is LetterStatus.OPEN and not speaks_of(row, letter)


def speaks_of(row: Message, letter: StoredLetter) -> bool:
    """Say whether an open letter of an open row's record tells of the row itself."""
    if row.status is Status.UNKNOWN:
        return letter.key == row.key
    return letter.reason not in ENDED


def prune(db: Database, retention: float, limit: int) -> int:
    """Letters first, then rows with their history, as the real one does."""
    letters = [item for item in db.letters.values() if _letter_may_go(db, item, retention)]
    letters = letters[: max(limit // 10, 1)]
    for letter in letters:
        del db.letters[letter.place]
    rows = [row for row in db.rows.values() if _row_may_go(db, row, retention)][:limit]
    for row in rows:
        db.delete(row)
    gone = {row.key for row in rows}
    db.history = [line for line in db.history if line.key not in gone]
    return len(letters) + len(rows)


def _letter_may_go(db: Database, letter: StoredLetter, retention: float) -> bool:
    if letter.status not in CLOSED_LETTER or letter.last_failed_at >= db.now - retention:
        return False
    return not any(row.outcome_due and row.at == letter.at for row in db.rows.values())


def _row_may_go(db: Database, row: Message, retention: float) -> bool:
    if row.status not in CLOSED_ROW or row.claimed_at >= db.now - retention:
        return False
    kept = any(_keeps(letter, row) for letter in db.letters.values())
    return not kept and not any(_is_untold(line, row) for line in db.history)


def _keeps(letter: StoredLetter, row: Message) -> bool:
    is_open = letter.status in OPEN_LETTER
    if is_open and letter.key == row.key:
        return True
    return letter.at == row.at and (is_open or row.outcome_due)


def _is_untold(line: Line, row: Message) -> bool:
    due = line.due and line.key == row.key
    return due and (row.outcome_due or line.entry.event in BAD_NEWS)
