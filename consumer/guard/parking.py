"""Records set aside: without a row of their own, beside somebody's row, or until they are due."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import structlog

from consumer.guard import letters
from consumer.guard.letters import DeadLetter
from consumer.guard.privacy import Privacy
from consumer.guard.reading import LETTER, RECORD, letter_of
from consumer.guard.rows import COLUMNS, lock, row_of
from consumer.guard.transitions import Letter
from consumer.model import (
    FIRST_LOOK,
    Bad,
    Fenced,
    Reason,
    Record,
    Recorded,
    RecordResult,
    Row,
    Status,
    elapsed,
)

log = structlog.get_logger(__name__)

TAKE_DUE = f"""
    UPDATE dead_letter d SET next_check_at = now() + $2::interval
     WHERE d.id IN (
        SELECT id FROM dead_letter WHERE status = 'parked' AND next_check_at <= now()
         ORDER BY next_check_at LIMIT $1 FOR UPDATE SKIP LOCKED)
       AND d.status = 'parked'
    RETURNING {LETTER}, {RECORD}
"""  # noqa: S608 - the columns are ours


AGES = f"""
    SELECT {COLUMNS},
           extract(epoch FROM clock_timestamp() - m.first_attempt_at)::float8 AS first_attempt,
           extract(epoch FROM clock_timestamp() - m.attempt_deadline)::float8 AS deadline,
           extract(epoch FROM clock_timestamp() - m.doubt_since)::float8 AS doubt
      FROM sent_message m WHERE m.idempotency_key = ANY($1::text[])
"""  # noqa: S608 - the columns are ours

FINISHED = "UPDATE sent_message SET outcome_due = true WHERE idempotency_key = $1"


@dataclass(frozen=True, slots=True)
class Age:
    """How long ago, in seconds, by the database's clock. By now it is at least that."""

    first_attempt: float  # at this provider, with this account
    deadline: float  # no byte of the last attempt left after it; < 0: still to come
    doubt: float
    read_at: float  # on the clock `model.elapsed`, before the database was asked


@dataclass(frozen=True, slots=True)
class Due:
    """A parked record whose time has come. `row`: what stands under its key by now.

    `age`: of an `unknown` row. `replay`: a person made it due.
    """

    letter: DeadLetter
    record: Record
    row: Row | None
    age: Age | None = None
    replay: bool = False


async def park(connection: Any, record: Record, bad: Bad, privacy: Privacy, *, fresh: bool) -> None:
    """Open a dead letter for a record of which no mail can come, or which is refused.

    `fresh`: it came from Kafka, so what is parked for its open row is not ended by this. A fuse's
    letter is always written: closing it puts the fuse in again.
    """
    stays = fresh and bad.reason is not Reason.FUSED
    await letters.write(
        connection, record, Letter(bad.reason, bad.detail), privacy, key=bad.idempotency_key,
        mail_type=bad.event_type, discarded_stays=True, parked_stays=stays,
    )  # fmt: skip


async def park_too(
    connection: Any, record: Record, mail_type: str, row: Row, privacy: Privacy
) -> RecordResult:
    """Park a record beside a row that is `unknown` or between rounds.

    Under the row's lock: whoever settles the row sees this letter. `Fenced`: the row has moved on
    since it was read, nothing was written, and the record has to be judged again.
    """
    async with connection.transaction():
        now = (await lock(connection, [row.key])).get(row.key)
        letter = None if now is None else _letter_beside(now)
        if now is None or letter is None:
            return Fenced(now)
        await letters.write(connection, record, letter, privacy, key=row.key, mail_type=mail_type)
        if now.coordinates == record.coordinates:  # its own record is finished by this
            await connection.execute(FINISHED, row.key)
    return Recorded()


def _letter_beside(row: Row) -> Letter | None:
    if row.status is Status.UNKNOWN:
        return Letter(Reason.UNKNOWN, "its key's outcome is unknown; evidence decides", FIRST_LOOK)
    if row.status is Status.WAITING and not row.lease_live:
        return Letter(Reason.EXHAUSTED, "the row's attempts are used up; the next round decides", 0)
    return None


async def take_due(connection: Any, limit: int, hold_for: float, privacy: Privacy) -> list[Due]:
    """Take parked letters whose time has come, for `hold_for` seconds, oldest first.

    One short statement, so that no lock is held while they are worked on. Whoever dies over one
    leaves it due again; and so does who has not the key to open it, and says so.
    """
    return await dues(connection, TAKE_DUE, [limit, timedelta(seconds=hold_for)], privacy)


async def dues(
    connection: Any, taking: str, values: Sequence[object], privacy: Privacy
) -> list[Due]:
    """Return what a statement that takes letters took, each with what stands under its key."""
    taken = await connection.fetch(taking, *values)
    found = [letter for values in taken if _is_open(letter := letter_of(values, privacy))]
    read_at = elapsed()
    keys = {key for letter in found if (key := letter.idempotency_key) is not None}
    rows = await connection.fetch(AGES, sorted(keys)) if keys else []
    by_key = {values["idempotency_key"]: values for values in rows}
    return [_due(letter, by_key.get(letter.idempotency_key), read_at) for letter in found]


def _is_open(letter: DeadLetter) -> bool:
    if letter.locked is not None:
        log.error("cannot open a dead letter", letter=letter.id, why=letter.locked, alert="key")
    return letter.locked is None


def _due(letter: DeadLetter, values: Any, read_at: float) -> Due:
    if letter.record is None:
        raise LookupError("a letter was read without its record")
    if values is None:
        return Due(letter, letter.record, None, replay=letter.replay)
    return Due(letter, letter.record, row_of(values), _age(values, read_at), letter.replay)


def _age(values: Any, read_at: float) -> Age | None:
    ages = values["first_attempt"], values["deadline"], values["doubt"]
    if values["status"] != Status.UNKNOWN or None in ages:
        return None
    return Age(*ages, read_at)
