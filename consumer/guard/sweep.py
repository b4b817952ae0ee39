"""Open rows that nobody will come back for: found by age, with a mark that never passes one.

A row needs the sweep while no letter of its own record is parked (or open) for it: the resolver is
driven by letters. An open one has to tell of the row. One without the key of an `unknown` row does
not: a deploy could not read the record while it waited, and then another record of its key was
flown on the row. One that says how a mail ended, of a row that is `waiting`, is out of date: while
one worker ended it (gave up asking, used its attempts up), a slower one had taken it over, and was
called back before it sent.

Whatever is opened again later is claimed again, with a new `claimed_at`, so what lies below the
mark stays done.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from consumer.guard import history, letters
from consumer.guard.privacy import UNSEALED, Privacy
from consumer.guard.rows import COLUMNS, lock, row_of
from consumer.guard.transitions import Letter
from consumer.model import (
    FIRST_LOOK,
    Fenced,
    Reason,
    Record,
    Recorded,
    RecordResult,
    Row,
    Status,
)

STALE_AFTER = timedelta(minutes=10)
SLICE = timedelta(hours=1)  # of claims, read at once; doubled while that costs next to nothing
QUICK = 0.1  # seconds
BUDGET = 1.0  # seconds of reading, after which the rest is left to the next call
LONG_AGO = timedelta(days=40)

# A plan made while the table was small would read all of it for ever after; and a plan that has no
# index to go by then looks so dear that it would be compiled, each time.
BY_INDEX = "SET LOCAL enable_seqscan = off; SET LOCAL jit = off"
# One sweeper at a time; whoever comes second has nothing to do.
MARK = """
    SELECT done_until, next_from, now() - $1::interval AS until,
           greatest(next_from, now() - $2::interval) AS first_until
      FROM sweep FOR UPDATE SKIP LOCKED
"""
MOVE = "UPDATE sweep SET done_until = $1, next_from = $2"

OPEN = """
    SELECT m.idempotency_key, m.claimed_at,
           coalesce(m.lease_until, '-infinity') < now() - $3::interval AS stale
      FROM sent_message m
     WHERE m.claimed_at >= $1 AND m.claimed_at < $2
       AND m.status IN ('sending', 'waiting', 'unknown')
       AND (m.status = 'sending' OR NOT EXISTS (
            SELECT FROM dead_letter d
             WHERE d."offset" = m."offset" AND d."partition" = m."partition" AND d.topic = m.topic
               AND d.record_timestamp = m.record_timestamp AND d.event_type = m.event_type
               AND (d.status = 'parked' OR d.status = 'open' AND CASE m.status
                    WHEN 'unknown' THEN coalesce(d.idempotency_key = m.idempotency_key, false)
                    ELSE d.reason NOT IN ('unknown', 'exhausted', 'rejected', 'fused') END)))
     ORDER BY m.claimed_at
"""
ROWS = f"SELECT {COLUMNS} FROM sent_message m WHERE m.idempotency_key = ANY($1::text[])"  # noqa: S608 - the columns are ours

ABANDON = """
    UPDATE sent_message
       SET status = 'unknown', lease_until = NULL, error = $3,
           doubt_since = coalesce(doubt_since, now()),
           doubt_provider = coalesce(doubt_provider, provider)
     WHERE idempotency_key = $1 AND epoch = $2 AND status = 'sending' AND lease_until <= now()
    RETURNING idempotency_key
"""
ABANDONED = "its worker vanished in the middle of an attempt"


@dataclass(slots=True)
class _Pass:
    """How far this call is: `done` is passed by nobody's open row, `at` is where to read on."""

    done: datetime
    at: datetime
    until: datetime
    keys: list[str]


async def stale(connection: Any, limit: int) -> list[Row]:
    """Return up to `limit` rows left open for ten minutes; [] also while another worker sweeps."""
    async with connection.transaction():
        await connection.execute(BY_INDEX)
        mark = await connection.fetchrow(MARK, STALE_AFTER, LONG_AGO)
        if mark is None:
            return []
        way = _Pass(mark["done_until"], mark["next_from"], mark["until"], [])
        await _read(connection, way, mark["first_until"], limit)
        at_end = way.at >= way.until
        await connection.execute(MOVE, way.done, way.done if at_end else way.at)
        return [row_of(values) for values in await connection.fetch(ROWS, way.keys)]


async def _read(connection: Any, way: _Pass, first_until: datetime, limit: int) -> None:
    """Read on slice by slice, from `way.at`, until enough is found or it takes too long."""
    began, width, until = time.monotonic(), SLICE, first_until
    while way.at < way.until and len(way.keys) < limit and time.monotonic() - began < BUDGET:
        slice_began = time.monotonic()
        until = min(until if until > way.at else way.at + width, way.until)
        found = await connection.fetch(OPEN, way.at, until, STALE_AFTER)
        _pass(way, found, until, limit - len(way.keys))
        if time.monotonic() - slice_began < QUICK:
            width *= 2


def _pass(way: _Pass, found: list[Any], until: datetime, room: int) -> None:
    """Take what is stale of a slice that was read; the mark stops at the first open row."""
    stale_ones = [values for values in found if values["stale"]]
    if way.done == way.at:
        way.done = min((values["claimed_at"] for values in found), default=until)
    way.keys += [values["idempotency_key"] for values in stale_ones[:room]]
    way.at = until if len(stale_ones) <= room else stale_ones[room]["claimed_at"]


async def abandon(
    connection: Any, row: Row, mail_type: str, found_by: Record, privacy: Privacy
) -> RecordResult:
    """Turn a `sending` row whose lease is dead to `unknown`, at the epoch it was read at."""
    letter = Letter(Reason.UNKNOWN, ABANDONED, FIRST_LOOK)
    async with connection.transaction():
        if not await connection.fetch(ABANDON, row.key, row.epoch, ABANDONED):
            return Fenced((await lock(connection, [row.key])).get(row.key))
        await letters.write(connection, found_by, letter, privacy, key=row.key, mail_type=mail_type)
        await history.write(connection, [history.entry(row, "abandoned", ABANDONED)])
        return Recorded()


async def orphan(connection: Any, row: Row, detail: str) -> None:
    """Show a person an open row whose record cannot be read any more; nothing of it is sent."""
    async with connection.transaction():
        now = (await lock(connection, [row.key])).get(row.key)
        if now is None or (now.epoch, now.status) != (row.epoch, row.status) or now.lease_live:
            return
        if now.status is Status.SENDING:
            await connection.execute(ABANDON, row.key, row.epoch, ABANDONED)
        await letters.write(
            connection, _unreadable(row), Letter(Reason.ORPHANED, detail), UNSEALED,
            key=row.key, mail_type=row.mail_type,
        )  # fmt: skip
        await history.write(connection, [history.entry(now, "orphaned", detail)])


def _unreadable(row: Row) -> Record:
    at = row.coordinates
    if at is None:
        raise LookupError("an open row without coordinates")  # the table forbids it
    return Record(at.topic, at.partition, at.offset, at.timestamp, None, None, ())
