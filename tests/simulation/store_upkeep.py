"""Live workers, the sweep's finds, and pruning."""

from __future__ import annotations

from consumer.guard.letters import LetterStatus
from consumer.model import Row, Status
from tests.simulation.store_tables import OPEN_LETTER, Database, Message, StoredLetter

CLOSED_ROW = (Status.SENT, Status.FAILED, Status.DISCARDED, Status.EXPIRED)
CLOSED_LETTER = (LetterStatus.SETTLED, LetterStatus.DISCARDED, LetterStatus.REPLAYED)
FORGOTTEN = 3600.0  # seconds since the last beat
STALE = 600.0  # seconds since a lease died


def beat(db: Database, owner: str, live_for: float) -> int:
    others = sum(1 for name, at in db.workers.items() if name != owner and at > db.now - live_for)
    db.workers = {name: at for name, at in db.workers.items() if at >= db.now - FORGOTTEN}
    db.workers[owner] = db.now
    return others + 1


def leave(db: Database, owner: str) -> None:
    db.workers.pop(owner, None)


def stale(db: Database, limit: int) -> list[Row]:
    """`sending` rows dead for ten minutes, and `waiting` ones that no letter will wake."""
    raise NotImplementedError


def prune(db: Database, retention: float, limit: int) -> int:
    """Letters first, then rows, as the real one does."""
    letters = [item for item in db.letters.values() if _letter_may_go(db, item, retention)]
    letters = letters[: max(limit // 10, 1)]
    for letter in letters:
        del db.letters[letter.place]
    rows = [row for row in db.rows.values() if _row_may_go(db, row, retention)][:limit]
    for row in rows:
        db.delete(row)
    return len(letters) + len(rows)


def _letter_may_go(db: Database, letter: StoredLetter, retention: float) -> bool:
    if letter.status not in CLOSED_LETTER or letter.last_failed_at >= db.now - retention:
        return False
    row = None if letter.key is None else db.rows.get(letter.key)
    return row is None or not row.outcome_due or row.at != letter.at


def _row_may_go(db: Database, row: Message, retention: float) -> bool:
    if row.status not in CLOSED_ROW or row.claimed_at >= db.now - retention:
        return False
    return not any(_keeps(letter, row) for letter in db.letters.values())


def _keeps(letter: StoredLetter, row: Message) -> bool:
    is_open = letter.status in OPEN_LETTER
    if is_open and letter.key == row.key:
        return True
    return letter.at == row.at and (is_open or row.outcome_due)
