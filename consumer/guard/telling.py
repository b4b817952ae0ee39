"""Outcomes that were settled after their record was finished, and of which upstream must hear.

The flag `outcome_due` is set in the settling transaction and cleared after the outcome record's
ack. It has no index: what is due is found through the letters of the rows' own records, which are
few, and which hold what the outcome has to say of the event; and through lines of history that are
marked as due, where no letter is left (or never was: a refused mail that was delivered after all).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from consumer.guard import links
from consumer.guard.privacy import Privacy
from consumer.guard.reading import RECORD
from consumer.guard.rows import COLUMNS, row_of
from consumer.guard.sealing import LockedError
from consumer.model import Record, Row

# From the letters to their rows, each by the index. OFFSET holds the planner to it: it believes
# that hardly any row is due, and would read all of them to find those.
BY_LETTER = f"""
    SELECT {COLUMNS}, {RECORD}, d.sealed, d.event_type AS letter_type
      FROM dead_letter d
     CROSS JOIN LATERAL (
            SELECT s.*
              FROM sent_message s
             WHERE s."offset" = d."offset" AND s."partition" = d."partition" AND s.topic = d.topic
               AND s.record_timestamp = d.record_timestamp
            OFFSET 0) m
     WHERE m.outcome_due AND m.status IN ('sent', 'failed', 'discarded', 'expired')
     LIMIT $1
"""  # noqa: S608 - the columns are ours

BY_HISTORY = f"""
    SELECT DISTINCT ON (m.idempotency_key) {COLUMNS}
      FROM history h JOIN sent_message m ON m.idempotency_key = h.idempotency_key
     WHERE h.due AND h.event NOT IN ('bounced', 'complained') AND m.outcome_due
       AND m.status IN ('sent', 'failed', 'discarded', 'expired')
       AND (m.topic IS NOT NULL OR EXISTS (
            SELECT FROM history r WHERE r.idempotency_key = h.idempotency_key
               AND r.event = 'resent'))
     LIMIT $1
"""  # noqa: S608 - the columns are ours

TOLD = """
    UPDATE sent_message SET outcome_due = false
     WHERE idempotency_key = $1 AND epoch = $2 AND status = $3 RETURNING true
"""
LINES_TOLD = """
    UPDATE history SET due = false
     WHERE idempotency_key = $1 AND due AND event NOT IN ('bounced', 'complained')
"""


@dataclass(frozen=True, slots=True)
class Settled:
    """A row that was settled late, and the record it was claimed for (no value: not kept)."""

    row: Row
    record: Record


async def due(connection: Any, limit: int, privacy: Privacy) -> list[Settled]:
    """Return what upstream has to hear of, one a row, at most `limit` of each kind."""
    lines = await connection.fetch(BY_HISTORY, limit)
    rows = [await links.placed(connection, row_of(values)) for values in lines]
    named = [row for row in rows if row.coordinates is not None]  # the newest may be pruned
    found = await connection.fetch(BY_LETTER, limit)
    kept = [_settled(values, privacy) for values in found]
    return list({settled.row.key: settled for settled in [*map(_unkept, named), *kept]}.values())


def _settled(values: Any, privacy: Privacy) -> Settled:
    row = row_of(values)
    assert row.coordinates is not None
    try:
        return Settled(row, privacy.record(values, row.coordinates, values["letter_type"]))
    except LockedError:
        return _unkept(row)  # its outcome can be told without it


def _unkept(row: Row) -> Settled:
    at = row.coordinates
    assert at is not None
    return Settled(row, Record(at.topic, at.partition, at.offset, at.timestamp, None, None, ()))


async def told(connection: Any, row: Row) -> None:
    async with connection.transaction():
        if await connection.fetchval(TOLD, row.key, row.epoch, row.status):
            await connection.execute(LINES_TOLD, row.key)
