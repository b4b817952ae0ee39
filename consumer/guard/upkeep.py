"""What keeps the guard healthy: workers counted, old rows and closed letters pruned."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from consumer.guard import blanking, wiping
from consumer.guard.lanes import Lane
from consumer.guard.privacy import Privacy

# A worker counts for a few missed beats; one gone for an hour is forgotten.
BEAT = """
    WITH gone AS (DELETE FROM worker WHERE seen_at < now() - interval '1 hour'),
         mine AS (INSERT INTO worker (owner) VALUES ($1)
                  ON CONFLICT (owner) DO UPDATE SET seen_at = now() RETURNING owner)
    SELECT count(*) AS others, (SELECT count(*) FROM mine) AS mine
      FROM worker WHERE owner <> $1 AND seen_at > now() - $2::interval
"""
BATCH = 1000  # rows pruned at once: short locks, short transactions

ALIVE = "SELECT count(*) FROM worker WHERE seen_at > now() - $1::interval"
LEAVE = "DELETE FROM worker WHERE owner = $1"

# State and age stand in the DELETE itself: a row claimed again meanwhile is another row. `doomed`
# is found by the block range index on claimed_at. What is due is told through the letter of the
# row's own record or a line of its history (`telling`, `hearing`): it all stays until then.
PRUNE = """
    WITH doomed AS (
        SELECT m.idempotency_key FROM sent_message m
         WHERE m.claimed_at < now() - $1::interval
           AND m.status IN ('sent', 'failed', 'discarded', 'expired')
           AND NOT EXISTS (SELECT FROM dead_letter d WHERE d.status IN ('open', 'parked')
                              AND d.idempotency_key = m.idempotency_key)
           AND NOT EXISTS (SELECT FROM dead_letter d
                            WHERE (d.status IN ('open', 'parked') OR m.outcome_due)
                              AND d."offset" = m."offset" AND d."partition" = m."partition"
                              AND d.topic = m.topic AND d.record_timestamp = m.record_timestamp)
           AND NOT EXISTS (SELECT FROM history h
                            WHERE h.idempotency_key = m.idempotency_key AND h.due
                              AND (m.outcome_due OR h.event IN ('bounced', 'complained')))
         LIMIT $2
    )
    DELETE FROM sent_message m USING doomed
     WHERE m.idempotency_key = doomed.idempotency_key
       AND m.claimed_at < now() - $1::interval
       AND m.status IN ('sent', 'failed', 'discarded', 'expired')
    RETURNING m.idempotency_key
"""
# A statement of its own: it sees what was written to a row's history before the row was locked.
PRUNE_HISTORY = "DELETE FROM history WHERE idempotency_key = ANY($1::text[])"

PRUNE_LETTERS = """
    WITH doomed AS (
        SELECT d.id FROM dead_letter d
         WHERE d.status IN ('settled', 'discarded', 'replayed')
           AND d.last_failed_at < now() - $1::interval
           AND NOT EXISTS (SELECT FROM sent_message m
                            WHERE m.outcome_due AND m."offset" = d."offset"
                              AND m."partition" = d."partition"
                              AND m.topic = d.topic AND m.record_timestamp = d.record_timestamp)
         LIMIT $2
    )
    DELETE FROM dead_letter d USING doomed
     WHERE d.id = doomed.id
       AND d.status IN ('settled', 'discarded', 'replayed')
       AND d.last_failed_at < now() - $1::interval
    RETURNING d.idempotency_key
"""
ONE_PRUNER = "SELECT pg_try_advisory_xact_lock(hashtextextended('sendonce prune', 0))"


async def beat(connection: Any, owner: str, live_for: float) -> int:
    """Say that this worker lives; return how many do, this one included."""
    row = await connection.fetchrow(BEAT, owner, timedelta(seconds=live_for))
    return int(row["others"]) + 1


async def alive(connection: Any, live_for: float) -> int:
    """Return how many workers live, as far as the database has heard."""
    return int(await connection.fetchval(ALIVE, timedelta(seconds=live_for)))


async def leave(connection: Any, owner: str) -> None:
    await connection.execute(LEAVE, owner)


async def prune(connection: Any, retention: float, limit: int) -> int:
    """Delete up to `limit` rows past their retention, and a tenth as many closed letters.

    Returns how many of both; 0 also while another worker is at it. Letters hold whole records, so
    their batches are smaller. Two transactions: no letter stays locked while a row is waited for.
    """
    letters = await _prune(connection, PRUNE_LETTERS, retention, max(limit // 10, 1))
    return letters + await _prune(connection, PRUNE, retention, limit, PRUNE_HISTORY)


@dataclass(frozen=True, slots=True)
class Tidy:
    """Keeps no more of people than the deployment says, nor longer."""

    lane: Lane
    privacy: Privacy

    async def __call__(self) -> int:
        """Wipe, seal and blank what is due by now, a batch of each; 0: nothing is left to do."""
        return await self.lane.run(self._some)

    async def _some(self, connection: Any) -> int:
        wiped = await wiping.wipe(connection, self.privacy)
        sealed = await wiping.seal(connection, self.privacy)
        return wiped + sealed + await blanking.blank(connection, self.privacy)


async def _prune(
    connection: Any, statement: str, retention: float, limit: int, also: str | None = None
) -> int:
    async with connection.transaction():
        if not await connection.fetchval(ONE_PRUNER):
            return 0
        gone = await connection.fetch(statement, timedelta(seconds=retention), limit)
        if gone and also is not None:
            await connection.execute(also, [row["idempotency_key"] for row in gone])
    return len(gone)
