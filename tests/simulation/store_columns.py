"""The columns of the guard's tables, as plain objects, and what a SELECT makes of them.

Times are floats: seconds since 1970 by the database's clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from consumer.guard.history import Entry
from consumer.guard.letters import DeadLetter, LetterStatus
from consumer.model import Coordinates, Evidence, Reason, Record, Row, Status

IN_FLIGHT = (Status.SENDING, Status.WAITING)
OPEN_ROW = (Status.SENDING, Status.WAITING, Status.UNKNOWN)
MAY_DOUBT = (Status.SENDING, Status.UNKNOWN, Status.DISCARDED)
CLOSED_ROW = (Status.SENT, Status.FAILED, Status.DISCARDED, Status.EXPIRED)
OPEN_LETTER = (LetterStatus.OPEN, LetterStatus.PARKED)


class CheckViolationError(AssertionError):
    """A statement made a row that a CHECK forbids; the message names the constraint."""


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
            None if self.settled_by is None else Evidence(self.settled_by),
        )  # fmt: skip

    def check(self) -> None:
        """Hold every CHECK of the table."""
        for name in (*self._broken(), *self._broken_of_sent()):
            raise CheckViolationError(f"{name}: {self}")

    def _broken(self) -> list[str]:
        status = self.status
        broken = []
        if self.attempts < 0 or self.round < 0 or self.epoch < 1:
            broken.append("counters_grow")
        if self.lease_until is None and status is Status.SENDING:
            broken.append("sending_has_lease")
        if self.lease_until is not None and status not in IN_FLIGHT:
            broken.append("only_flights_have_lease")
        if self.at is None and status in OPEN_ROW:
            broken.append("open_rows_have_coordinates")
        if (self.doubt_since is None) != (self.doubt_provider is None):
            broken.append("doubt_is_whole")
        if self.doubt_since is None and status is Status.UNKNOWN:
            broken.append("unknown_is_doubt")
        if self.doubt_since is not None and status not in MAY_DOUBT:
            broken.append("doubt_stands")
        return broken

    def _broken_of_sent(self) -> list[str]:
        is_sent, proven = self.status is Status.SENT, self.sent_at is not None
        broken = []
        if is_sent != proven or (is_sent and self.provider_message_id is None):
            broken.append("sent_has_proof")
        if (self.delivery is None) != (self.delivery_at is None):
            broken.append("delivery_is_whole")
        if self.delivery is not None and not is_sent:
            broken.append("delivery_is_whole")
        if self.second_message_id is not None and not is_sent:
            broken.append("only_sent_twice")
        return broken


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
    at: Coordinates
    replay: bool = False
    note: str | None = None

    @property
    def place(self) -> tuple[Coordinates, str | None]:
        return self.at, self.mail_type

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
            raise CheckViolationError(f"parked_has_date: {self}")


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


def when(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
