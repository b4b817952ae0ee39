"""Outcomes that were settled after their record was finished, and of which upstream must hear.

The flag `outcome_due` is set in the settling transaction and cleared after the outcome record's
ack. It has no index: what is due is found through the settled dead letters, which are few.
"""

from __future__ import annotations

from typing import Any

from consumer.guard.rows import COLUMNS, row_of
from consumer.model import Row

DUE = f"""
    SELECT {COLUMNS} FROM sent_message m
     WHERE m.outcome_due AND m.topic IS NOT NULL
       AND m.status IN ('sent', 'failed', 'discarded', 'expired')
       AND m.idempotency_key IN (
           SELECT d.idempotency_key FROM dead_letter d WHERE d.idempotency_key IS NOT NULL)
     LIMIT $1
"""  # noqa: S608 - the columns are ours

TOLD = "UPDATE sent_message SET outcome_due = false WHERE idempotency_key = $1 AND epoch = $2"


async def due(connection: Any, limit: int) -> list[Row]:
    return [row_of(values) for values in await connection.fetch(DUE, limit)]


async def told(connection: Any, row: Row) -> None:
    await connection.execute(TOLD, row.key, row.epoch)
