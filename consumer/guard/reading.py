"""What people read: dead letters, and all that is known under a key."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from consumer.guard import history
from consumer.guard.history import Happening
from consumer.guard.letters import DeadLetter, LetterStatus
from consumer.guard.privacy import Privacy
from consumer.guard.rows import COLUMNS, coordinates_of, row_of
from consumer.guard.sealing import LockedError
from consumer.model import Coordinates, Evidence, News, Reason, Record, Row, Status

LETTER = """d.id, d.idempotency_key, d.event_type, d.reason, d.detail, d.status, d.topic,
    d."partition", d."offset", d.record_timestamp, d.failures, d.first_failed_at, d.last_failed_at,
    d.next_check_at, d.replay, d.note, d.sealed, d.wiped_at"""
RECORD = "d.record_key, d.record_value, d.header_names, d.header_values"

LIST = f"""
    SELECT {LETTER} FROM dead_letter d
     WHERE ($1::text[] IS NULL OR d.status = ANY($1)) AND ($2::text[] IS NULL OR d.reason = ANY($2))
       AND ($3::text IS NULL OR d.event_type = $3) AND ($4::text IS NULL OR d.topic = $4)
       AND ($5::bigint IS NULL OR d.id < $5)
     ORDER BY d.id DESC LIMIT $6
"""  # noqa: S608 - the columns are ours
GET = f"SELECT {LETTER}, {RECORD} FROM dead_letter d WHERE d.id = $1"  # noqa: S608 - the columns are ours
OF_KEY = f"SELECT {LETTER} FROM dead_letter d WHERE d.idempotency_key = $1 ORDER BY d.id"  # noqa: S608 - the columns are ours
COUNT = """
    SELECT status, reason, count(*) AS n FROM dead_letter WHERE status IN ('open', 'parked')
     GROUP BY status, reason
"""
SHOW = f"""
    SELECT {COLUMNS}, m.recipient, m.claimed_at, m.lease_until, m.attempt_deadline, m.doubt_since,
           m.outcome_due, m.settled_by, m.second_message_id, m.delivery, m.delivery_at
      FROM sent_message m WHERE m.idempotency_key = $1
"""  # noqa: S608 - the columns are ours


OF_ADDRESS = """
    SELECT m.idempotency_key AS key, m.event_type AS mail_type, m.status, m.claimed_at, m.sent_at
      FROM sent_message m WHERE lower(m.recipient) = $1 OR m.recipient_hash = $2
     ORDER BY m.claimed_at DESC LIMIT $3
"""


@dataclass(frozen=True, slots=True)
class Addressed:
    """A mail of somebody who was asked for."""

    key: str
    mail_type: str
    status: Status
    claimed_at: datetime
    sent_at: datetime | None


@dataclass(frozen=True, slots=True)
class Query:
    """Which letters to list; None means all. Newest first; `before`: the last id of a page."""

    statuses: Collection[LetterStatus] | None = None
    reasons: Collection[Reason] | None = None
    mail_type: str | None = None
    topic: str | None = None
    before: int | None = None
    limit: int = 100


@dataclass(frozen=True, slots=True)
class Story:
    """All that the guard knows under one key.

    `recipient` is an address: never in a log; empty once it is blanked, or forgotten.
    """

    row: Row
    recipient: str
    claimed_at: datetime
    lease_until: datetime | None
    attempt_deadline: datetime | None
    doubt_since: datetime | None
    doubt_provider: str | None
    outcome_due: bool
    letters: tuple[DeadLetter, ...]
    history: tuple[Happening, ...] = ()
    settled_by: Evidence | None = None
    second_message_id: str | None = None  # another mail under this key was really sent as well
    delivery: News | None = None  # the worst that its provider told of it
    delivery_at: datetime | None = None
    version: int = 1


async def list_letters(connection: Any, query: Query) -> list[DeadLetter]:
    rows = await connection.fetch(
        LIST, _texts(query.statuses), _texts(query.reasons), query.mail_type, query.topic,
        query.before, query.limit,
    )  # fmt: skip
    return [letter_of(values) for values in rows]


async def get_letter(connection: Any, letter_id: int, privacy: Privacy) -> DeadLetter | None:
    values = await connection.fetchrow(GET, letter_id)
    return None if values is None else letter_of(values, privacy)


async def count_letters(connection: Any) -> dict[tuple[LetterStatus, Reason], int]:
    rows = await connection.fetch(COUNT)
    return {(LetterStatus(row["status"]), Reason(row["reason"])): row["n"] for row in rows}


async def show(connection: Any, key: str) -> Story | None:
    values = await connection.fetchrow(SHOW, key)
    if values is None:
        return None
    return Story(
        row=row_of(values),
        recipient=values["recipient"],
        claimed_at=values["claimed_at"],
        lease_until=values["lease_until"],
        attempt_deadline=values["attempt_deadline"],
        doubt_since=values["doubt_since"],
        doubt_provider=values["doubt_provider"],
        outcome_due=values["outcome_due"],
        letters=tuple(letter_of(letter) for letter in await connection.fetch(OF_KEY, key)),
        history=await history.read(connection, key),
        settled_by=Evidence(by) if (by := values["settled_by"]) else None,
        second_message_id=values["second_message_id"],
        delivery=News(news) if (news := values["delivery"]) else None,
        delivery_at=values["delivery_at"],
        version=values["version"],
    )


async def of_address(
    connection: Any, address: str, hashed: bytes | None, limit: int
) -> list[Addressed]:
    """`address`: canonical, in lower case."""
    found = await connection.fetch(OF_ADDRESS, address, hashed, limit)
    return [Addressed(**{**values, "status": Status(values["status"])}) for values in found]


def letter_of(values: Any, privacy: Privacy | None = None) -> DeadLetter:
    """Read a letter; with `privacy`, which opens it, also its record: it may be ten megabytes."""
    at = coordinates_of(values)
    if at is None:
        raise LookupError("a dead letter without coordinates")  # NOT NULL in the table
    record, locked = (None, None) if privacy is None else _opened(values, at, privacy)
    return DeadLetter(
        id=values["id"],
        idempotency_key=values["idempotency_key"],
        event_type=values["event_type"],
        reason=Reason(values["reason"]),
        detail=values["detail"],
        status=LetterStatus(values["status"]),
        coordinates=at,
        failures=values["failures"],
        first_failed_at=values["first_failed_at"],
        last_failed_at=values["last_failed_at"],
        next_check_at=values["next_check_at"],
        record=record,
        replay=values["replay"],
        note=values["note"],
        sealed=values["sealed"],
        wiped_at=values["wiped_at"],
        locked=locked,
    )


def _opened(values: Any, at: Coordinates, privacy: Privacy) -> tuple[Record | None, str | None]:
    try:
        return privacy.record(values, at, values["event_type"]), None
    except LockedError as error:
        return None, f"its record is {error}"


def _texts(values: Collection[str] | None) -> list[str] | None:
    return None if values is None else [str(value) for value in values]
