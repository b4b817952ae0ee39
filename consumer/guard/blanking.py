"""Recipients of finished mails, blanked in time: a keyed hash stays, by which an address is found.

Goes through the table a few blocks at a time, and begins again a day later: what was open when it
came by is found then. No index is needed, and outcomes pay nothing.
"""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any, Final

from consumer.guard.privacy import Privacy

BLOCKS: Final = 128  # of 8 kB, some thousand rows: a short transaction
BUDGET: Final = 0.5  # seconds of one call
AGAIN: Final = timedelta(days=1)

ONE_AT_A_TIME = "SELECT pg_try_advisory_xact_lock(hashtextextended('sendonce blank', 0))"
MARK = """
    SELECT blanked_block AS block, blanked_since < now() - $1::interval AS again,
           pg_relation_size('sent_message') / current_setting('block_size')::bigint AS blocks
      FROM sweep
"""
MOVE = """
    UPDATE sweep SET blanked_block = $1,
           blanked_since = CASE WHEN $2 THEN now() ELSE blanked_since END
"""
DONE = """m.status IN ('sent', 'failed', 'discarded', 'expired') AND m.recipient <> ''
    AND coalesce(m.sent_at, m.claimed_at) < now() - $3::interval"""
FIND = f"""
    SELECT m.idempotency_key, m.recipient FROM sent_message m
     WHERE m.ctid >= $1::tid AND m.ctid < $2::tid AND {DONE}
       FOR NO KEY UPDATE SKIP LOCKED
"""  # noqa: S608 - the condition is ours
BLANK = f"""
    UPDATE sent_message m SET recipient = '', recipient_hash = u.h
      FROM unnest($1::text[], $2::bytea[]) AS u(k, h) WHERE m.idempotency_key = u.k AND {DONE}
    RETURNING m.idempotency_key
"""  # noqa: S608 - the condition is ours


async def blank(connection: Any, privacy: Privacy) -> int:
    """Blank some recipients whose mail is long finished; 0: none left, or not our turn."""
    after, until, done = privacy.blank_after, time.monotonic() + BUDGET, 0
    while after is not None and time.monotonic() < until:
        async with connection.transaction():
            some = await _slice(connection, privacy, timedelta(seconds=after))
        if some is None:
            break
        done += some
    return done


async def _slice(connection: Any, privacy: Privacy, after: timedelta) -> int | None:
    """Blank what is due in the next blocks; None: the pass is over, or another worker's."""
    if not await connection.fetchval(ONE_AT_A_TIME):
        return None
    mark = await connection.fetchrow(MARK, AGAIN)
    anew = mark["block"] >= mark["blocks"]
    if anew and not mark["again"]:
        return None
    first = 0 if anew else mark["block"]
    found = await connection.fetch(FIND, (first, 0), (first + BLOCKS, 0), after)
    hashes = [privacy.hashed(row["recipient"]) for row in found]
    keys = [row["idempotency_key"] for row in found]
    done = await connection.fetch(BLANK, keys, hashes, after) if keys else []
    await connection.execute(MOVE, first + BLOCKS, anew)
    return len(done)
