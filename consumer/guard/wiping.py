"""Letters that hold what only their mail's reader should see: sealed, and emptied in good time.

A letter whose record can become no mail any more keeps its story and loses its bytes; if a person
was still needed for it, it is given up. Never one that the service is at, or whose row is open:
evidence of an unknown outcome is looked for with the record. Nor one of a type that nobody knows:
the release that does says for how long it may wait.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

import structlog

from consumer.guard.letters import columns_of
from consumer.guard.privacy import Privacy
from consumer.guard.reading import LETTER, RECORD, letter_of

log = structlog.get_logger(__name__)

WIPED: Final = "wiped: older than its max_age, no mail can come of it"
MANY: Final = 500  # letters wiped at once
SOME: Final = 50  # letters sealed at once: each may hold a megabyte

# By the time of the first failure: no record is younger than that.
OF_PRIVATE_TYPES = """
      FROM dead_letter d
      JOIN unnest($1::text[], $2::text[], $3::interval[]) AS a(topic, kind, age)
        ON d.event_type = a.kind
        OR (a.kind IS NULL AND d.topic = a.topic
            AND (d.event_type IS NULL OR d.event_type <> ALL($4::text[])))
     WHERE d.wiped_at IS NULL
"""
WIPE = f"""
    WITH doomed AS (
        SELECT d.id {OF_PRIVATE_TYPES}
           AND d.first_failed_at < now() - a.age AND d.status <> 'parked'
           AND NOT (d.status = 'open' AND d.reason = 'unknown_type')
           AND NOT EXISTS (SELECT FROM sent_message m
                            WHERE m.idempotency_key = d.idempotency_key
                              AND m.status IN ('sending', 'waiting', 'unknown'))
         LIMIT $5 FOR UPDATE OF d SKIP LOCKED)
    UPDATE dead_letter d
       SET record_key = NULL, record_value = NULL, header_names = '{{}}', header_values = '{{}}',
           sealed = NULL, wiped_at = now(), replay = false,
           note = CASE WHEN d.status = 'open' THEN $6 ELSE d.note END,
           status = CASE WHEN d.status = 'open' THEN 'discarded' ELSE d.status END
      FROM doomed WHERE d.id = doomed.id AND d.status <> 'parked'
    RETURNING d.id
"""  # noqa: S608 - the condition is ours

# What an earlier release wrote, or a type that has become sensitive since, or under an older key.
TO_SEAL = f"""
    SELECT {LETTER}, {RECORD} {OF_PRIVATE_TYPES}
       AND d.id > $5 AND (d.sealed = ANY($6::text[]) OR (d.sealed IS NULL
            AND (d.record_key IS NOT NULL OR d.record_value IS NOT NULL
                 OR cardinality(d.header_names) > 0)))
     ORDER BY d.id LIMIT $7 FOR UPDATE OF d SKIP LOCKED
"""
SEAL = """
    UPDATE dead_letter
       SET record_key = $2, record_value = $3, header_names = $4, header_values = $5, sealed = $6
     WHERE id = $1
"""


async def wipe(connection: Any, privacy: Privacy) -> int:
    """Empty a batch of letters whose record is past its type's `max_age`; return how many."""
    if not privacy.lifetimes:
        return 0
    gone = await connection.fetch(WIPE, *_types(privacy), MANY, WIPED)
    if gone:
        log.warning("dead letters wiped", letters=len(gone), why="max_age")
    return len(gone)


async def seal(connection: Any, privacy: Privacy) -> int:
    """Seal, under the current key, what is not; return how many. What is locked is passed over."""
    current, done, after = privacy.ring.current, 0, 0
    older = [key_id for key_id in privacy.ring.keys if key_id != current]
    while current is not None and privacy.lifetimes:
        async with connection.transaction():
            found = await connection.fetch(TO_SEAL, *_types(privacy), after, older, SOME)
            done += sum([await _seal(connection, privacy, values) for values in found])
        if len(found) < SOME:
            break
        after = found[-1]["id"]
    return done


async def _seal(connection: Any, privacy: Privacy, values: Any) -> bool:
    letter = letter_of(values, privacy)
    if letter.record is None:
        return False
    kept = privacy.keep(letter.record, letter.event_type)
    await connection.execute(SEAL, letter.id, *columns_of(kept), kept.sealed)
    return True


def _types(privacy: Privacy) -> tuple[Any, ...]:
    lives = privacy.lifetimes
    known = sorted({life.mail_type for life in lives if life.mail_type} | privacy.plain_types)
    ages = [timedelta(seconds=life.seconds) for life in lives]
    return [life.topic for life in lives], [life.mail_type for life in lives], ages, known
