"""Dead letters: written beside the row in its transaction, settled with it, read by people.

One a record and mail type, however often it fails. Texts in them may come from a hostile record,
and a letter that cannot be written would stop its partition: they are cut and cleaned here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from consumer.guard.transitions import Letter
from consumer.model import Coordinates, Reason, Record

LONGEST_NAME = (
    255  # characters of a type or key; an index entry holds no more than some 2,700 bytes
)
LONGEST_DETAIL = 4000  # characters

# $17: a letter that a person gave up stays given up when its record merely comes by again.
UPSERT = """
    INSERT INTO dead_letter AS d (idempotency_key, event_type, reason, detail, status, topic,
        "partition", "offset", record_timestamp, record_key, record_value, header_names,
        header_values, next_check_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, now() + $14::interval)
    ON CONFLICT ("offset", "partition", topic, record_timestamp, event_type) DO UPDATE
       SET failures = d.failures + 1, last_failed_at = now(), reason = excluded.reason,
           detail = excluded.detail, next_check_at = excluded.next_check_at,
           idempotency_key = coalesce(excluded.idempotency_key, d.idempotency_key),
           status = CASE WHEN $15 AND d.status = 'discarded' THEN d.status ELSE excluded.status END,
           replay = d.replay AND excluded.status = 'parked'
"""

# Settled with its row: every letter of the key, and every one of the row's own record. Not those of
# other records whose content was refused under this key: that mail was never made.
# `|| ''` keeps the planner from starting at the index on status: planned while the table was empty,
# every outcome would walk through all open letters for ever after.
SETTLE = """
    UPDATE dead_letter d SET status = 'settled', next_check_at = NULL
      FROM (SELECT l.id FROM {settled} s JOIN dead_letter l ON l.idempotency_key = s.idempotency_key
             WHERE l.reason NOT IN ('conflict', 'key_drift')
             UNION ALL
            SELECT l.id FROM {settled} s JOIN dead_letter l ON l."offset" = s."offset"
               AND l."partition" = s."partition" AND l.topic = s.topic
               AND l.record_timestamp = s.record_timestamp
               AND (l.event_type = s.event_type OR l.event_type IS NULL)) AS x
     WHERE d.id = x.id AND d.status || '' IN ('open', 'parked')
"""


class LetterStatus(StrEnum):
    PARKED = "parked"  # the service is at it
    OPEN = "open"  # a person is needed
    REPLAYED = "replayed"
    SETTLED = "settled"
    DISCARDED = "discarded"


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """As an operator sees it. `record` is None where only the facts were asked for."""

    id: int
    idempotency_key: str | None
    event_type: str | None
    reason: Reason
    detail: str
    status: LetterStatus
    coordinates: Coordinates
    failures: int
    first_failed_at: datetime
    last_failed_at: datetime
    next_check_at: datetime | None
    record: Record | None = None
    replay: bool = False  # a person made it due
    note: str | None = None  # who did what with it, and why


async def write(
    connection: Any,
    record: Record,
    letter: Letter,
    *,
    key: str | None,
    mail_type: str | None,
    discarded_stays: bool = False,
) -> None:
    """Insert the letter, or count one more failure of the one that this record has."""
    parked = letter.check_in is not None
    await connection.execute(
        UPSERT, _name(key), _name(mail_type), letter.reason, _plain(letter.detail, LONGEST_DETAIL),
        LetterStatus.PARKED if parked else LetterStatus.OPEN, *_record_values(record),
        timedelta(seconds=letter.check_in) if letter.check_in is not None else None,
        discarded_stays,
    )  # fmt: skip


def settle_within(settled: str) -> str:
    """Return the statement that settles the letters of the rows in the relation `settled`."""
    return SETTLE.format(settled=settled)


SETTLE_KEYS = f"""
    WITH s AS (
        SELECT idempotency_key, event_type, topic, "partition", "offset", record_timestamp
          FROM sent_message WHERE idempotency_key = ANY($1::text[]))
    {settle_within("s")}
"""  # noqa: S608 - both halves are ours


async def settle(connection: Any, keys: Sequence[str]) -> None:
    await connection.execute(SETTLE_KEYS, list(keys))


def _record_values(record: Record) -> tuple[Any, ...]:
    return (
        record.topic, record.partition, record.offset, record.timestamp, record.key, record.value,
        [name.encode("utf-8", "surrogateescape") for name, _ in record.headers],
        [value for _, value in record.headers],
    )  # fmt: skip


def _name(text: str | None) -> str | None:
    return None if text is None else _plain(text, LONGEST_NAME)


def _plain(text: str, longest: int) -> str:
    """Postgres holds neither NUL nor lone surrogates in a text."""
    return (
        text[:longest]
        .encode("utf-8", "replace")
        .decode()
        .replace("\0", "\N{REPLACEMENT CHARACTER}")
    )
