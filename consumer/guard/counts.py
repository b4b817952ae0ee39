"""What stands in the guard, counted: for the demo and for whoever wants to check the promise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from consumer.guard.lanes import Address, connect
from consumer.model import Coordinates, Reason, Status


@dataclass(frozen=True, slots=True)
class Counts:
    rows: Mapping[Status, int]
    dead_letters: Mapping[Reason, int]  # whatever their status
    seen: frozenset[Coordinates]  # records that a row or a dead letter names


_ROWS = "SELECT status, count(*) FROM sent_message GROUP BY status ORDER BY status"
_DEAD_LETTERS = "SELECT reason, count(*) FROM dead_letter GROUP BY reason ORDER BY reason"
_SEEN = """
    SELECT topic, "partition", "offset", record_timestamp FROM sent_message WHERE topic IS NOT NULL
    UNION
    SELECT topic, "partition", "offset", record_timestamp FROM dead_letter
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
    return Counts(
        rows={Status(name): n for name, n in await connection.fetch(_ROWS)},
        dead_letters={Reason(name): n for name, n in await connection.fetch(_DEAD_LETTERS)},
        seen=frozenset(Coordinates(*row) for row in await connection.fetch(_SEEN)),
    )
