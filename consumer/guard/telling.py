"""Outcomes that were settled after their record was finished, and of which upstream must hear.

The flag `outcome_due` is set in the settling transaction and cleared after the outcome record's
ack. It has no index: what is due is found through the letters of the rows' own records, which are
few, and which hold what the outcome has to say of the event.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from consumer.guard.reading import RECORD, record_of
from consumer.guard.rows import COLUMNS, row_of
from consumer.model import Record, Row

DUE = f"""
    SELECT {COLUMNS}, {RECORD}
      FROM dead_letter d
      JOIN sent_message m ON m.idempotency_key = d.idempotency_key
       AND m."offset" = d."offset" AND m."partition" = d."partition" AND m.topic = d.topic
       AND m.record_timestamp = d.record_timestamp
     WHERE m.outcome_due AND m.status IN ('sent', 'failed', 'discarded', 'expired')
     LIMIT $1
"""  # noqa: S608 - the columns are ours

TOLD = "UPDATE sent_message SET outcome_due = false WHERE idempotency_key = $1 AND epoch = $2"


@dataclass(frozen=True, slots=True)
class Settled:
    """A row that was settled late, and the record it was claimed for."""

    row: Row
    record: Record


async def due(connection: Any, limit: int) -> list[Settled]:
    return [_settled(values) for values in await connection.fetch(DUE, limit)]


def _settled(values: Any) -> Settled:
    row = row_of(values)
    assert row.coordinates is not None
    return Settled(row, record_of(values, row.coordinates))


async def told(connection: Any, row: Row) -> None:
    await connection.execute(TOLD, row.key, row.epoch)
