"""The guard's tables as dicts: columns, unique indexes, CHECK constraints, and the clock.

Times are floats: seconds since 1970 by the database's clock, which is `Database.now`. A row that
breaks a CHECK raises `CheckViolation`, for it is a bug wherever it is met; a row that breaks the
unique index on coordinates raises `UniqueViolation`, which the statements are made for.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from consumer.guard.history import Entry
from consumer.guard.letters import DeadLetter, LetterStatus
from consumer.model import Coordinates, Reason, Record, Row, Status

IN_FLIGHT = (Status.SENDING, Status.WAITING)
OPEN_LETTER = (LetterStatus.OPEN, LetterStatus.PARKED)


class CheckViolation(AssertionError):  # noqa: N818 - named as Postgres names it
    """A statement made a row that a CHECK forbids; the message names the constraint."""


class UniqueViolation(Exception):  # noqa: N818 - named as Postgres names it
    """Two rows at the same coordinates. The statement that tried is undone."""


@dataclass(slots=True)
class Message:
    """A row of `sent_message`."""

    key: str
    mail_type: str
    recipient: str
    status: Status
    fingerprint: str
    catalogue: str
    provider: str
    account: str
    attempts: int
    round: int
    epoch: int
    owner: str
    token: str
    lease_until: float | None
    first_attempt_at: float | None
    attempt_deadline: float | None
    body_hash: bytes | None
    at: Coordinates | None
    claimed_at: float
    outcome_due: bool = False
    doubt_since: float | None = None
    doubt_provider: str | None = None
    provider_message_id: str | None = None
    sent_at: float | None = None
    error: str | None = None
    settled_by: str | None = None
    second_message_id: str | None = None
    version: int = 1
    delivery: str | None = None
    delivery_at: float | None = None

    @property
    def place(self) -> tuple[str, Coordinates] | None:
        return None if self.at is None else (self.mail_type, self.at)

    def lease_live(self, now: float) -> bool:
        return self.lease_until is not None and self.lease_until > now

    def read(self, now: float) -> Row:
        """Return the row as a SELECT at `now` would."""
        return Row(
            self.key, self.mail_type, self.status, self.fingerprint, self.catalogue, self.provider,
            self.account, self.attempts, self.round, self.epoch, self.owner, self.token,
            self.lease_until is not None and self.lease_until > now, self.doubt_since is not None,
            self.at, self.provider_message_id, when(self.sent_at), when(self.first_attempt_at),
            self.body_hash, self.error, self.doubt_provider, self.version,
        )  # fmt: skip

    def check(self) -> None:
        """Hold every CHECK of the table."""
        status, sent = self.status, self.status is Status.SENT
        for name, holds in (
            ("counters_grow", self.attempts >= 0 and self.round >= 0 and self.epoch >= 1),
            ("sending_has_lease", status is not Status.SENDING or self.lease_until is not None),
            ("only_flights_have_lease", self.lease_until is None or status in IN_FLIGHT),
            ("sent_has_proof", sent == (self.sent_at is not None)),
            ("sent_has_proof", not sent or self.provider_message_id is not None),
            ("doubt_is_whole", (self.doubt_since is None) == (self.doubt_provider is None)),
            ("unknown_is_doubt", status is not Status.UNKNOWN or self.doubt_since is not None),
            ("doubt_stands", self.doubt_since is None or status in _MAY_DOUBT),
            ("only_sent_twice", sent or self.second_message_id is None),
            ("delivery_is_whole", (self.delivery is None) == (self.delivery_at is None)),
            ("delivery_is_whole", sent or self.delivery is None),
            ("open_rows_have_coordinates", self.at is not None or status not in _OPEN),
        ):
            if not holds:
                raise CheckViolation(f"{name}: {self}")


_MAY_DOUBT = (Status.SENDING, Status.UNKNOWN, Status.DISCARDED)
_OPEN = (*IN_FLIGHT, Status.UNKNOWN)


@dataclass(slots=True)
class StoredLetter:
    """A row of `dead_letter`. Its record is kept as it first came."""

    id: int
    key: str | None
    mail_type: str | None
    reason: Reason
    detail: str
    status: LetterStatus
    record: Record
    failures: int
    first_failed_at: float
    last_failed_at: float
    next_check_at: float | None
    replay: bool = False
    note: str | None = None

    @property
    def at(self) -> Coordinates:
        return self.record.coordinates

    @property
    def place(self) -> tuple[Coordinates, str | None]:
        return self.record.coordinates, self.mail_type

    def read(self, *, whole: bool = False) -> DeadLetter:
        first, last = when(self.first_failed_at), when(self.last_failed_at)
        assert first is not None
        assert last is not None
        return DeadLetter(
            id=self.id, idempotency_key=self.key, event_type=self.mail_type, reason=self.reason,
            detail=self.detail, status=self.status, coordinates=self.at, failures=self.failures,
            first_failed_at=first, last_failed_at=last, next_check_at=when(self.next_check_at),
            record=self.record if whole else None, replay=self.replay, note=self.note,
        )  # fmt: skip

    def check(self) -> None:
        if self.status is LetterStatus.PARKED and self.next_check_at is None:
            raise CheckViolation(f"parked_has_date: {self}")


@dataclass(slots=True)
class Line:
    """A row of `history`: what was not a plain acceptance, and how often."""

    id: int
    at: float
    last_at: float
    entry: Entry
    due: bool
    times: int = 1

    @property
    def key(self) -> str:
        return self.entry.key

    @property
    def told(self) -> tuple[object, ...]:
        """What makes two lines the same: counted, not written again."""
        entry = self.entry
        return entry.event, entry.provider, entry.attempt, entry.provider_message_id, entry.detail


@dataclass(slots=True)
class Database:
    """All that Postgres holds for the guard."""

    now: float = 0.0
    rows: dict[str, Message] = field(default_factory=dict)
    places: dict[tuple[str, Coordinates], str] = field(default_factory=dict)
    letters: dict[tuple[Coordinates, str | None], StoredLetter] = field(default_factory=dict)
    history: list[Line] = field(default_factory=list)
    workers: dict[str, float] = field(default_factory=dict)
    letter_ids: int = 0
    history_ids: int = 0
    swept_until: float = -math.inf  # below: no row is open without a letter
    sweep_from: float = -math.inf

    def at_place(self, mail_type: str, at: Coordinates) -> Message | None:
        key = self.places.get((mail_type, at))
        return None if key is None else self.rows[key]

    def insert(self, row: Message) -> bool:
        """INSERT .. ON CONFLICT DO NOTHING, on either unique index. True: it is in."""
        if row.key in self.rows or row.place in self.places:
            return False
        row.check()
        self.rows[row.key] = row
        self._take_place(row)
        return True

    def update(self, row: Message, **columns: Any) -> None:
        """Set columns of this row, the unique index and the CHECKs held."""
        at = columns.get("at", row.at)
        if at is not None and self.places.get((row.mail_type, at), row.key) != row.key:
            raise UniqueViolation(row.key)
        if row.place is not None:
            del self.places[row.place]
        for name, value in columns.items():
            setattr(row, name, value)
        self._take_place(row)
        row.check()

    def delete(self, row: Message) -> None:
        del self.rows[row.key]
        if row.place is not None:
            del self.places[row.place]

    def letters_of(self, key: str) -> Iterator[StoredLetter]:
        return (letter for letter in self.letters.values() if letter.key == key)

    def write_line(self, entry: Entry) -> None:
        """Write a line of history, or count it on one of the last four of its key."""
        line = Line(0, self.now, self.now, entry, entry.due)
        last = [item for item in self.history if item.key == entry.key][-4:]
        same = [item for item in last if item.told == line.told]
        if same:
            same[-1].times += 1
            same[-1].last_at = self.now
            same[-1].due = same[-1].due or entry.due
        else:
            self._append(line)

    def write_line_once(self, entry: Entry) -> bool:
        """Write what counts once by (key, event, provider, its id); False: it stands already."""
        once = (entry.key, entry.event, entry.provider, entry.provider_message_id)
        for item in self.history:
            it = item.entry
            if (it.key, it.event, it.provider, it.provider_message_id) == once:
                self.history_ids += 1  # an identity counts on, also where the row was there
                return False
        self._append(Line(0, self.now, self.now, entry, entry.due))
        return True

    def _append(self, line: Line) -> None:
        self.history_ids += 1
        line.id = self.history_ids
        self.history.append(line)

    def copy(self) -> Database:
        return copy.deepcopy(self)

    def _take_place(self, row: Message) -> None:
        if row.place is not None:
            self.places[row.place] = row.key


def when(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
