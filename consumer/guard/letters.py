"""Dead letters: written beside the row in its transaction, settled with it, read by people.

One a record and mail type, however often it fails. Texts in them may come from a hostile record,
and a letter that cannot be written would stop its partition: they are cut and cleaned here.

The record is kept as it came the first time; one that was wiped since is kept anew, unless it stays
given up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from consumer.guard.privacy import Kept, Privacy
from consumer.guard.transitions import Letter
from consumer.model import Coordinates, Reason, Record

LONGEST_NAME = (
    255  # characters of a type or key; an index entry holds no more than some 2,700 bytes
)
LONGEST_DETAIL = 4000  # characters

# $15: a letter that a person gave up stays given up when its record merely comes by again. $17: and
# one that is parked for an open row stays as it is, when a record from Kafka cannot be read by this
# deploy: the service is at it, with the edition that the row was made with.
UPSERT = """
    INSERT INTO dead_letter AS d (idempotency_key, event_type, reason, detail, status, topic,
        "partition", "offset", record_timestamp, record_key, record_value, header_names,
        header_values, next_check_at, sealed)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, now() + $14::interval, $16)
    ON CONFLICT ("offset", "partition", topic, record_timestamp, event_type) DO UPDATE
       SET failures = d.failures + 1, last_failed_at = now(), reason = excluded.reason,
           detail = excluded.detail, next_check_at = excluded.next_check_at,
           idempotency_key = coalesce(excluded.idempotency_key, d.idempotency_key),
           status = CASE WHEN $15 AND d.status = 'discarded' THEN d.status ELSE excluded.status END,
           replay = d.replay AND excluded.status = 'parked',
           record_key = CASE WHEN {anew} THEN excluded.record_key ELSE d.record_key END,
           record_value = CASE WHEN {anew} THEN excluded.record_value ELSE d.record_value END,
           header_names = CASE WHEN {anew} THEN excluded.header_names ELSE d.header_names END,
           header_values = CASE WHEN {anew} THEN excluded.header_values ELSE d.header_values END,
           sealed = CASE WHEN {anew} THEN excluded.sealed ELSE d.sealed END,
           wiped_at = CASE WHEN {anew} THEN NULL ELSE d.wiped_at END
     WHERE NOT ($17 AND d.status = 'parked' AND EXISTS (
           SELECT FROM sent_message m
            WHERE m."offset" = d."offset" AND m."partition" = d."partition" AND m.topic = d.topic
              AND m.record_timestamp = d.record_timestamp AND m.event_type = d.event_type
              AND m.status IN ('waiting', 'unknown')))
""".format(anew="d.wiped_at IS NOT NULL AND NOT ($15 AND d.status = 'discarded')")  # noqa: S608 - the condition is ours

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


UNCLOSED = (LetterStatus.OPEN, LetterStatus.PARKED)  # somebody is at it, or has to be


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """As an operator sees it.

    `record` is None where only the facts were asked for, or where it cannot be opened: `locked`
    says why. Once it is wiped it has neither key nor value nor headers.
    """

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
    sealed: str | None = None  # the id of the key that its record is sealed under
    wiped_at: datetime | None = None  # since when nothing of its record is kept
    locked: str | None = None


async def write(
    connection: Any,
    record: Record,
    letter: Letter,
    privacy: Privacy,
    *,
    key: str | None,
    mail_type: str | None,
    discarded_stays: bool = False,
    parked_stays: bool = False,
) -> None:
    """Insert the letter, or count one more failure of the one that this record has."""
    parked, kind = letter.check_in is not None, _name(mail_type)
    kept = privacy.keep(record, kind)
    await connection.execute(
        UPSERT, _name(key), kind, letter.reason, _plain(letter.detail, LONGEST_DETAIL),
        LetterStatus.PARKED if parked else LetterStatus.OPEN, *_place(record), *columns_of(kept),
        timedelta(seconds=letter.check_in) if letter.check_in is not None else None,
        discarded_stays, kept.sealed, parked_stays,
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


def _place(record: Record) -> tuple[Any, ...]:
    return record.topic, record.partition, record.offset, record.timestamp


def columns_of(kept: Kept) -> tuple[Any, ...]:
    """Return key, value, names and values of headers, as their columns hold them."""
    names = [name.encode("utf-8", "surrogateescape") for name, _ in kept.headers]
    return kept.key, kept.value, names, [value for _, value in kept.headers]


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
