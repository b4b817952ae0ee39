"""Records set aside: without a row of their own, beside somebody's row, or until they are due."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from consumer.guard import letters
from consumer.guard.letters import DeadLetter
from consumer.guard.reading import LETTER, letter_of
from consumer.guard.rows import find_key, lock
from consumer.guard.transitions import Letter
from consumer.model import (
    Bad,
    Fenced,
    Mail,
    Reason,
    Record,
    Recorded,
    RecordResult,
    Row,
    Status,
)

TAKE_DUE = f"""
    UPDATE dead_letter d SET next_check_at = now() + $2::interval
     WHERE d.id IN (
        SELECT id FROM dead_letter WHERE status = 'parked' AND next_check_at <= now()
         ORDER BY next_check_at LIMIT $1 FOR UPDATE SKIP LOCKED)
       AND d.status = 'parked'
    RETURNING {LETTER}, d.record_key, d.record_value, d.header_names, d.header_values
"""  # noqa: S608 - the columns are ours


@dataclass(frozen=True, slots=True)
class Due:
    """A parked record whose time has come. `row`: what stands under its key by now."""

    letter: DeadLetter
    record: Record
    row: Row | None


async def park(connection: Any, record: Record, bad: Bad) -> None:
    """Open a dead letter for a record of which no mail can come, or which is refused."""
    await letters.write(
        connection, record, Letter(bad.reason, bad.detail),
        key=bad.idempotency_key, mail_type=bad.event_type, discarded_stays=True,
    )  # fmt: skip


async def park_too(connection: Any, record: Record, mail: Mail, row: Row) -> RecordResult:
    """Park a record beside a row that is `unknown` or between rounds.

    Under the row's lock: whoever settles the row sees this letter. `Fenced`: the row has moved on
    since it was read, nothing was written, and the record has to be judged again.
    """
    async with connection.transaction():
        now = (await lock(connection, [row.key])).get(row.key)
        letter = None if now is None else _letter_beside(now)
        if letter is None:
            return Fenced(now)
        await letters.write(connection, record, letter, key=row.key, mail_type=mail.type.name)
    return Recorded()


def _letter_beside(row: Row) -> Letter | None:
    if row.status is Status.UNKNOWN:
        return Letter(Reason.UNKNOWN, "another attempt under this key has an unknown outcome")
    if row.status is Status.WAITING and not row.lease_live:
        return Letter(Reason.EXHAUSTED, "the row's attempts are used up; the next round decides", 0)
    return None


async def take_due(connection: Any, limit: int, hold_for: float) -> list[Due]:
    """Take parked letters whose time has come, for `hold_for` seconds, oldest first.

    One short statement, so that no lock is held while they are worked on. Whoever dies over one
    leaves it due again.
    """
    taken = await connection.fetch(TAKE_DUE, limit, timedelta(seconds=hold_for))
    return [await _due(connection, values) for values in taken]


async def _due(connection: Any, values: Any) -> Due:
    letter = letter_of(values, whole=True)
    if letter.record is None:
        raise LookupError("a letter was read without its record")
    key = letter.idempotency_key
    return Due(letter, letter.record, None if key is None else await find_key(connection, key))
