"""What is left of a record where it was taken in hand: its rows and letters, by coordinates alone.

Whatever the catalogue makes of the record today, and whatever its key was.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from consumer.guard.letters import LetterStatus
from consumer.model import Coordinates, Reason, Status

# Rows of other deployments' mail types on the same database say nothing. A letter may be of a type
# that no catalogue knows: all of a record's are returned.
FIND = """
    WITH i AS MATERIALIZED (
        SELECT * FROM unnest($1::text[], $2::int[], $3::bigint[], $4::bigint[])
               WITH ORDINALITY AS i(t, p, o, ts, n))
    SELECT i.n, m.idempotency_key, m.event_type, m.status, NULL AS reason, m.error,
           m.claimed_at < now() - $6::interval AS old
      FROM i JOIN sent_message m ON m."offset" = i.o AND m."partition" = i.p AND m.topic = i.t
                                AND m.record_timestamp = i.ts AND m.event_type = ANY($5::text[])
    UNION ALL
    SELECT i.n, d.idempotency_key, d.event_type, d.status, d.reason, NULL, false
      FROM i JOIN dead_letter d ON d."offset" = i.o AND d."partition" = i.p AND d.topic = i.t
                               AND d.record_timestamp = i.ts
"""
FIRST = """
    SELECT least(
        (SELECT min(m."offset") FROM sent_message m
          WHERE m.topic = $1 AND m."partition" = $2 AND m.event_type = ANY($3::text[])),
        (SELECT min(d."offset") FROM dead_letter d WHERE d.topic = $1 AND d."partition" = $2))
"""
DOUBLES = """
    SELECT DISTINCT h.idempotency_key AS key, m.event_type AS mail_type,
           EXISTS (SELECT FROM history u WHERE u.idempotency_key = h.idempotency_key
                      AND u.event IN ('unknown', 'abandoned')) AS doubted
      FROM history h JOIN sent_message m USING (idempotency_key)
     WHERE h.event = 'double' AND h.last_at >= $1 AND m.event_type = ANY($2::text[]) ORDER BY 1
"""
SWEPT_WITHIN: Final = timedelta(minutes=30)  # the sweep has found an open row by then


@dataclass(frozen=True, slots=True)
class RowTrace:
    """`old`: claimed so long ago that a letter tells of it, if it is still open."""

    key: str
    mail_type: str
    status: Status
    error: str | None = None
    old: bool = False


@dataclass(frozen=True, slots=True)
class LetterTrace:
    key: str | None
    mail_type: str | None
    status: LetterStatus
    reason: Reason


@dataclass(slots=True)
class Trace:
    """Several, where events of one record make mails of several types."""

    rows: list[RowTrace]
    letters: list[LetterTrace]


@dataclass(frozen=True, slots=True)
class Double:
    """A key that was really accepted twice. `doubted`: its outcome had been unknown before."""

    key: str
    mail_type: str
    doubted: bool


async def traces(
    connection: Any, places: Sequence[Coordinates], types: Collection[str]
) -> list[Trace]:
    """Return what stands at each place."""
    found = [Trace([], []) for _ in places]
    columns = zip(
        *((at.topic, at.partition, at.offset, at.timestamp) for at in places), strict=True
    )
    for values in await connection.fetch(FIND, *columns, list(types), SWEPT_WITHIN):
        trace = found[values["n"] - 1]
        named = values["idempotency_key"], values["event_type"]
        if values["reason"] is None:
            row = RowTrace(*named, Status(values["status"]), values["error"], values["old"])
            trace.rows.append(row)
        else:
            status, reason = LetterStatus(values["status"]), Reason(values["reason"])
            trace.letters.append(LetterTrace(*named, status, reason))
    return found


async def first(connection: Any, topic: str, partition: int, types: Collection[str]) -> int | None:
    """Return the first offset of a partition of which anything stands there."""
    found: int | None = await connection.fetchval(FIRST, topic, partition, list(types))
    return found


async def doubles(connection: Any, since: datetime, types: Collection[str]) -> list[Double]:
    """Return the keys of which a second acceptance came to light since then."""
    return [Double(*values) for values in await connection.fetch(DOUBLES, since, list(types))]
