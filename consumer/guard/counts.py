"""What stands in the guard, counted: for the demo and for whoever wants to check the promise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from consumer.guard.lanes import Address, connect
from consumer.guard.letters import UNCLOSED, LetterStatus
from consumer.model import Coordinates, Reason, Status


@dataclass(frozen=True, slots=True)
class CountedLetter:
    """`beside`: its key has a row, and that row is another record's."""

    reason: Reason
    status: LetterStatus
    at: Coordinates
    beside: bool = False

    @property
    def stands(self) -> bool:
        """Tell whether its record still is a dead letter: open, or parked for the service."""
        return self.status in UNCLOSED


@dataclass(frozen=True, slots=True)
class Counts:
    rows: Mapping[Status, int]
    settled_by: Mapping[str, int]  # rows that were in doubt and are sent, by the evidence
    letters: tuple[CountedLetter, ...]  # whatever their status
    seen: frozenset[Coordinates]  # records that a row or a dead letter names


_ROWS = "SELECT status, count(*) FROM sent_message GROUP BY status ORDER BY status"
_SETTLED = """
    SELECT settled_by, count(*) FROM sent_message
     WHERE settled_by IS NOT NULL AND status = 'sent' GROUP BY settled_by ORDER BY settled_by
"""
_LETTERS = """
    SELECT d.reason, d.status, d.topic, d."partition", d."offset", d.record_timestamp,
           EXISTS (SELECT FROM sent_message m
                    WHERE m.idempotency_key = d.idempotency_key
                      AND (m.topic, m."partition", m."offset", m.record_timestamp) IS DISTINCT FROM
                          (d.topic, d."partition", d."offset", d.record_timestamp)) AS beside
      FROM dead_letter d
"""
_SEEN = """
    SELECT topic, "partition", "offset", record_timestamp FROM sent_message WHERE topic IS NOT NULL
"""


async def count(dsn: str) -> Counts:
    """Count by full scans, in one snapshot: not for a table that is in earnest use."""
    connection = await connect(Address(dsn))
    try:
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            return await _count(connection)
    finally:
        await connection.close()


async def _count(connection: Any) -> Counts:
    letters = tuple(_letter(*row) for row in await connection.fetch(_LETTERS))
    rows = frozenset(Coordinates(*row) for row in await connection.fetch(_SEEN))
    return Counts(
        rows={Status(name): n for name, n in await connection.fetch(_ROWS)},
        settled_by=dict(map(tuple, await connection.fetch(_SETTLED))),
        letters=letters,
        seen=rows.union(letter.at for letter in letters),
    )


def _letter(reason: str, status: str, *rest: Any) -> CountedLetter:
    *at, beside = rest
    return CountedLetter(Reason(reason), LetterStatus(status), Coordinates(*at), beside)
