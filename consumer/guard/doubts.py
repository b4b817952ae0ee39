"""Steps of the inquiry that settle nothing: looked in vain, wait, or nothing is left to ask."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from consumer.guard import history
from consumer.guard.letters import DeadLetter
from consumer.guard.rows import lock
from consumer.model import Row, Status

WAIT_FOR_DEPLOY = 86_400.0  # seconds since it last failed, until a letter is opened unread
SHARED_FATE = 60.0  # seconds between two looks of a letter at the row beside which it is parked

OF_ROW = """d."offset" = $1 AND d."partition" = $2 AND d.topic = $3 AND d.record_timestamp = $4
    AND d.event_type = $5"""

LATER = f"""
    UPDATE dead_letter d SET next_check_at = now() + $6::interval
     WHERE {OF_ROW} AND d.status = 'parked'
"""  # noqa: S608 - the condition is ours

# What a person made due is answered by being open again.
OPEN = f"""
    UPDATE dead_letter d SET status = 'open', next_check_at = NULL, replay = false
     WHERE d.status = 'parked'
       AND (({OF_ROW}) OR (d.idempotency_key = $6 AND d.reason = 'unknown'))
"""  # noqa: S608 - the condition is ours

SHARE_FATE = """
    UPDATE dead_letter d
       SET status = CASE WHEN own.open THEN 'open' ELSE 'parked' END,
           next_check_at = CASE WHEN NOT own.open THEN now() + $2::interval END,
           replay = d.replay AND NOT own.open
      FROM (SELECT EXISTS (
                SELECT FROM dead_letter b
                  JOIN sent_message m ON m.idempotency_key = b.idempotency_key
                  JOIN dead_letter o ON o."offset" = m."offset" AND o."partition" = m."partition"
                   AND o.topic = m.topic AND o.record_timestamp = m.record_timestamp
                   AND o.event_type = m.event_type
                 WHERE b.id = $1 AND o.status = 'open') AS open) own
     WHERE d.id = $1 AND d.status = 'parked'
"""

# A deploy that brings the folder back is a matter of hours; after that, a person has to know.
WAIT = """
    UPDATE dead_letter d
       SET status = CASE WHEN late.is THEN 'open' ELSE 'parked' END,
           next_check_at = CASE WHEN NOT late.is THEN now() + $2::interval END,
           replay = d.replay AND NOT late.is
      FROM (SELECT last_failed_at < now() - $3::interval AS is FROM dead_letter WHERE id = $1) late
     WHERE d.id = $1 AND d.status = 'parked'
"""

# Nothing was written about its record since it was taken: it ended as somebody else's duplicate, or
# by a rule, and nobody else will close its letter.
REPLAYED = """
    UPDATE dead_letter d
       SET status = CASE WHEN d.replay THEN 'replayed' ELSE 'settled' END, next_check_at = NULL
     WHERE d.id = $1
       AND (d.status = 'settled' OR (d.status = 'parked' AND d.failures = $2))
"""


async def put_off(
    connection: Any, row: Row, look_in: float | None, event: str, detail: str
) -> bool:
    """Park the row's letter for `look_in` seconds more; None: open all its letters for a person.

    At exactly the epoch that was read before asking: stale evidence changes nothing (False).
    """
    async with connection.transaction():
        now = (await lock(connection, [row.key])).get(row.key)
        if now is None or now.status is not Status.UNKNOWN or now.epoch != row.epoch:
            return False
        await _set_date(connection, now, look_in)
        await history.write(connection, [history.entry(now, event, detail)])
    return True


async def _set_date(connection: Any, row: Row, look_in: float | None) -> None:
    at = row.coordinates
    if at is None:
        raise LookupError("an open row without coordinates")  # the table forbids it
    place = (at.offset, at.partition, at.topic, at.timestamp, row.mail_type)
    if look_in is None:
        await connection.execute(OPEN, *place, row.key)
    else:
        await connection.execute(LATER, *place, timedelta(seconds=look_in))


async def share_fate(connection: Any, letter: DeadLetter) -> None:
    """Do to a letter beside a row what was done to the row's own: opened, or looked at later."""
    await connection.execute(SHARE_FATE, letter.id, timedelta(seconds=SHARED_FATE))


async def wait_for_deploy(connection: Any, letter: DeadLetter, seconds: float) -> None:
    """Look again in so many seconds; open a letter that no catalogue has read for a day."""
    longest = timedelta(seconds=WAIT_FOR_DEPLOY)
    await connection.execute(WAIT, letter.id, timedelta(seconds=seconds), longest)


async def replayed(connection: Any, letter: DeadLetter) -> None:
    """Close a letter whose record went through the line again; not if it failed or waits anew."""
    await connection.execute(REPLAYED, letter.id, letter.failures)
