"""What keeps the guard healthy: workers counted, old rows pruned."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

# A worker counts for a few missed beats; one gone for an hour is forgotten.
BEAT = """
    WITH gone AS (DELETE FROM worker WHERE seen_at < now() - interval '1 hour'),
         mine AS (INSERT INTO worker (owner) VALUES ($1)
                  ON CONFLICT (owner) DO UPDATE SET seen_at = now() RETURNING owner)
    SELECT count(*) AS others, (SELECT count(*) FROM mine) AS mine
      FROM worker WHERE owner <> $1 AND seen_at > now() - $2::interval
"""
LEAVE = "DELETE FROM worker WHERE owner = $1"

# State and age stand in the DELETE itself: a row claimed again meanwhile is another row. `doomed`
# is found by the block range index on claimed_at.
PRUNE = """
    WITH doomed AS (
        SELECT m.idempotency_key FROM sent_message m
         WHERE m.claimed_at < now() - $1::interval
           AND m.status IN ('sent', 'failed', 'discarded', 'expired')
           AND NOT EXISTS (SELECT FROM dead_letter d WHERE d.status IN ('open', 'parked')
                              AND d.idempotency_key = m.idempotency_key)
           AND NOT EXISTS (SELECT FROM dead_letter d WHERE d.status IN ('open', 'parked')
                              AND d."offset" = m."offset" AND d."partition" = m."partition"
                              AND d.topic = m.topic AND d.record_timestamp = m.record_timestamp)
         LIMIT $2
    )
    DELETE FROM sent_message m USING doomed
     WHERE m.idempotency_key = doomed.idempotency_key
       AND m.claimed_at < now() - $1::interval
       AND m.status IN ('sent', 'failed', 'discarded', 'expired')
"""
ONE_PRUNER = "SELECT pg_try_advisory_xact_lock(hashtextextended('sendonce prune', 0))"


async def beat(connection: Any, owner: str, live_for: float) -> int:
    """Say that this worker lives; return how many do, this one included."""
    row = await connection.fetchrow(BEAT, owner, timedelta(seconds=live_for))
    return int(row["others"]) + 1


async def leave(connection: Any, owner: str) -> None:
    await connection.execute(LEAVE, owner)


async def prune(connection: Any, retention: float, limit: int) -> int:
    """Delete up to `limit` rows past their retention; 0 also while another worker is at it."""
    async with connection.transaction():
        if not await connection.fetchval(ONE_PRUNER):
            return 0
        done = await connection.execute(PRUNE, timedelta(seconds=retention), limit)
    return int(done.rpartition(" ")[2])
