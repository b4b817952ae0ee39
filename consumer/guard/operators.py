"""What a person does with dead letters and rows, and how each of it is written.

Everything happens through the same rows as a worker's: what is made due is flown by the resolver,
what is given up or asked for again meets its row under a lock, and is refused if it moved on since
the person saw it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from consumer.guard import history
from consumer.guard.letters import DeadLetter, LetterStatus
from consumer.guard.privacy import Privacy
from consumer.guard.reading import LETTER, RECORD, letter_of
from consumer.guard.rows import COLUMNS, find_key, lock, row_of
from consumer.model import OPEN, Coordinates, Reason, Row, Status

CHOSEN = """
     WHERE ($1::bigint[] IS NULL OR d.id = ANY($1)) AND d.status = ANY($2::text[])
       AND ($3::text[] IS NULL OR d.reason = ANY($3))
       AND ($4::text IS NULL OR d.event_type = $4) AND ($5::text IS NULL OR d.topic = $5)
       AND ($6::timestamptz IS NULL OR d.first_failed_at >= $6)
       AND ($7::timestamptz IS NULL OR d.first_failed_at < $7)
       AND ($8::text IS NULL OR position(lower($8) IN lower(d.detail)) > 0)
"""
COUNT = f"SELECT count(*) FROM dead_letter d {CHOSEN}"  # noqa: S608 - the condition is ours
NEXT = f"SELECT min(d.next_check_at) FROM dead_letter d {CHOSEN}"  # noqa: S608 - the condition is ours
IDS = f"SELECT d.id FROM dead_letter d {CHOSEN} ORDER BY d.id LIMIT $9"  # noqa: S608 - the condition is ours
BARE = f"SELECT {LETTER} FROM dead_letter d WHERE d.id = $1"  # noqa: S608 - the columns are ours
WHOLE = f"SELECT {LETTER}, {RECORD} FROM dead_letter d WHERE d.id = ANY($1) ORDER BY d.id"  # noqa: S608 - the columns are ours
OWN = f"""
    SELECT {LETTER}, {RECORD} FROM dead_letter d
     WHERE d."offset" = $1 AND d."partition" = $2 AND d.topic = $3 AND d.record_timestamp = $4
       AND d.event_type = $5
"""  # noqa: S608 - the columns are ours
ROWS = f"SELECT {COLUMNS} FROM sent_message m WHERE m.idempotency_key = ANY($1::text[])"  # noqa: S608 - the columns are ours

# Only what stands as it was shown; or what this very call wrote, when its answer was lost.
MAKE_DUE = """
    UPDATE dead_letter d
       SET status = 'parked', next_check_at = now() + u.after, replay = true, note = $5
      FROM unnest($1::bigint[], $2::text[], $3::int[], $4::interval[]) AS u(id, s, f, after)
     WHERE d.id = u.id AND d.status <> 'settled' AND d.wiped_at IS NULL
       AND ((d.status = u.s AND d.failures = u.f) OR d.note = $5)
    RETURNING d.id, d.idempotency_key
"""
GIVE_UP = """
    UPDATE sent_message
       SET status = 'discarded', epoch = epoch + 1, outcome_due = true, lease_until = NULL
     WHERE idempotency_key = $1
"""
DISCARD_OF_KEY = """
    UPDATE dead_letter SET status = 'discarded', next_check_at = NULL, replay = false, note = $2
     WHERE idempotency_key = $1 AND status IN ('open', 'parked')
       AND reason NOT IN ('conflict', 'key_drift')
    RETURNING id
"""
DISCARD_ONE = """
    UPDATE dead_letter SET status = 'discarded', next_check_at = NULL, replay = false, note = $2
     WHERE id = $1 AND status IN ('open', 'parked')
    RETURNING id
"""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which letters to work on; None means all. `text`: somewhere in the detail."""

    ids: Collection[int] | None = None
    statuses: Collection[LetterStatus] = (LetterStatus.OPEN,)
    reasons: Collection[Reason] | None = None
    mail_type: str | None = None
    topic: str | None = None
    since: datetime | None = None  # when the record failed for the first time
    until: datetime | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A letter to be made due, as it was read, and after how many seconds."""

    letter: DeadLetter
    after: float


@dataclass(frozen=True, slots=True)
class Discarded:
    """`row`: as it stood before it was given up; None: no row was."""

    letters: tuple[int, ...]
    row: Row | None


@dataclass(frozen=True, slots=True)
class NotDone:
    """Nothing was written. `why` says what stands there and what to do."""

    why: str


DiscardResult: TypeAlias = Discarded | NotDone


# ── Reading


async def count(connection: Any, chosen: Selection) -> int:
    return int(await connection.fetchval(COUNT, *_values(chosen)))


async def next_look(connection: Any, chosen: Selection) -> datetime | None:
    """Return when the service is at the first of a selection's parked letters."""
    found: datetime | None = await connection.fetchval(NEXT, *_values(chosen))
    return found


async def ids(connection: Any, chosen: Selection, limit: int) -> list[int]:
    return [row["id"] for row in await connection.fetch(IDS, *_values(chosen), limit)]


async def whole(connection: Any, letter_ids: Sequence[int], privacy: Privacy) -> list[DeadLetter]:
    """Return these letters with their records, each of which may be ten megabytes."""
    found = await connection.fetch(WHOLE, list(letter_ids))
    return [letter_of(values, privacy) for values in found]


async def letter_at(
    connection: Any, at: Coordinates, mail_type: str, privacy: Privacy
) -> DeadLetter | None:
    """Return the letter of the record at these coordinates, with the record."""
    values = await connection.fetchrow(
        OWN, at.offset, at.partition, at.topic, at.timestamp, mail_type
    )
    return None if values is None else letter_of(values, privacy)


async def rows(connection: Any, keys: Collection[str]) -> Mapping[str, Row]:
    found = await connection.fetch(ROWS, sorted(keys)) if keys else []
    return {row.key: row for row in map(row_of, found)}


# ── Replay


async def make_due(connection: Any, turns: Sequence[Turn], note: str) -> set[int]:
    """Have the resolver take these letters, each in its turn; return those that stood as read.

    `note`: who, when and why; it tells this call from all others.
    """
    columns = zip(*map(_turn, turns), strict=True)
    async with connection.transaction():
        done = await connection.fetch(MAKE_DUE, *columns, history.plain(note))
        keys = {key for values in done if (key := values["idempotency_key"]) is not None}
        known = await rows(connection, keys)
        lines = [history.entry(row, "replay", note) for _, row in sorted(known.items())]
        await history.write(connection, lines)
    return {values["id"] for values in done}


def _turn(turn: Turn) -> tuple[Any, ...]:
    letter = turn.letter
    return letter.id, letter.status, letter.failures, timedelta(seconds=turn.after)


# ── Discard


async def discard_letter(connection: Any, letter_id: int, note: str) -> DiscardResult:
    """Give up one record; its row as well, where it is that row's own record."""
    found = await connection.fetchrow(BARE, letter_id)
    letter = None if found is None else letter_of(found)
    if letter is None:
        return NotDone(f"there is no dead letter {letter_id}")
    key = letter.idempotency_key
    row = None if key is None else await find_key(connection, key)
    if row is not None and row.coordinates == letter.coordinates and row.status in OPEN:
        return await discard_key(connection, row.key, note)
    closed = await connection.fetch(DISCARD_ONE, letter_id, history.plain(note))
    if not closed and letter.note != history.plain(note):
        return NotDone(f"dead letter {letter_id} is {letter.status}: it is closed already")
    return Discarded((letter_id,), None)


async def discard_key(connection: Any, key: str, note: str) -> DiscardResult:
    """Give up what stands under a key, and close its letters; the doubt about it stays."""
    async with connection.transaction():
        row = (await lock(connection, [key])).get(key)
        why = None if row is None else _not_to_be_given_up(row)
        if why is not None:
            return NotDone(why)
        given_up = row is not None and row.status in OPEN
        if row is not None and given_up:
            await connection.execute(GIVE_UP, key)
            await history.write(
                connection, [replace(history.entry(row, "discarded", note), due=True)]
            )
        closed = await connection.fetch(DISCARD_OF_KEY, key, history.plain(note))
        if not closed and not given_up:
            return NotDone(_nothing(key, row))
        return Discarded(tuple(sorted(one["id"] for one in closed)), row if given_up else None)


def _not_to_be_given_up(row: Row) -> str | None:
    if row.lease_live:
        return f"{row.key} is in flight at this moment: look again when its outcome stands"
    if row.status is Status.SENDING:
        return (
            f"{row.key} was in flight when its worker vanished: it becomes `unknown` within ten"
            " minutes, and can be discarded then"
        )
    return None


def _nothing(key: str, row: Row | None) -> str:
    stands = "the guard has no row of it" if row is None else f"its row is {row.status}"
    return f"nothing is open under {key}: {stands}"


def _values(chosen: Selection) -> tuple[Any, ...]:
    return (
        None if chosen.ids is None else sorted(chosen.ids), list(map(str, chosen.statuses)),
        None if chosen.reasons is None else list(map(str, chosen.reasons)), chosen.mail_type,
        chosen.topic, chosen.since, chosen.until, chosen.text,
    )  # fmt: skip
