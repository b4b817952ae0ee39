"""What a transition does to the row it meets. Pure: the whole table of states in one place.

Doubt: once an attempt's outcome is unknown, no answer to a later attempt says anything about it.
While the row is in doubt, whatever would make it `waiting`, `failed` or `expired` ends `unknown`.

Fences: (epoch, token) name the flight and its attempt. Only proof of acceptance needs none:
it is the truth in every state.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias, assert_never

from consumer.model import (
    FIRST_LOOK,
    IN_FLIGHT,
    Evidence,
    Lease,
    MarkExpired,
    MarkFailed,
    MarkParked,
    MarkSent,
    MarkUnknown,
    MarkWaiting,
    Reason,
    Row,
    Status,
    Transition,
)

SETTLED = (Status.SENT, Status.FAILED, Status.EXPIRED)

Certain: TypeAlias = MarkFailed | MarkWaiting | MarkParked | MarkExpired


@dataclass(frozen=True, slots=True)
class Letter:
    """The dead letter to write with the row. `check_in`: parked until then, else open."""

    reason: Reason
    detail: str
    check_in: float | None = None  # seconds


@dataclass(frozen=True, slots=True)
class Write:
    """The row's new values; None keeps what stands there."""

    status: Status
    attempts: int
    error: str | None = None
    keeps_lease: bool = False
    provider: str | None = None
    provider_message_id: str | None = None
    doubts: str | None = None  # the provider whose attempt is in doubt
    by: Evidence | None = None  # what settled the doubt, or was faster than the flight
    due: bool = False  # nobody holds the record any more: the outcome has to be published
    letter: Letter | None = None

    @property
    def settles(self) -> bool:
        return self.status in SETTLED


@dataclass(frozen=True, slots=True)
class Stands:
    """Written already: the answer to its COMMIT was lost."""

    sent_at: datetime | None


@dataclass(frozen=True, slots=True)
class Foreign:
    """Another epoch, attempt or state: nothing is written."""

    row: Row | None


@dataclass(frozen=True, slots=True)
class Double:
    """Proof of a second acceptance under this key: alarmed, the first proof stays."""

    row: Row


Decision: TypeAlias = Write | Stands | Foreign | Double


def decide(row: Row | None, lease: Lease, transition: Transition) -> Decision:
    """Say what `transition`, asked for by the flight of `lease`, does to `row`."""
    if row is None:
        return Foreign(None)
    match transition:
        case MarkSent():
            return proven(row, transition)
        case MarkUnknown():
            return _unknown(row, lease, transition)
        case MarkFailed() | MarkWaiting() | MarkParked() | MarkExpired():
            return _certainly_not_sent(row, lease, transition)
    assert_never(transition)


def proven(row: Row, proof: MarkSent) -> Write | Stands | Double:
    """Say what proof of acceptance does to `row`: the truth in every state, whoever brings it.

    A plain answer that comes here was overtaken: had it been in time, the hot statement had it.
    Due is what nobody else will tell: a flight that is under way still tells its own record's end.
    """
    known = (row.provider, row.provider_message_id)
    if row.status is Status.SENT and known == (proof.provider, proof.provider_message_id):
        return Stands(row.sent_at)
    if row.status is Status.SENT and not _is_hearsay(row):
        return Double(row)
    return Write(
        Status.SENT, row.attempts, provider=proof.provider,
        provider_message_id=proof.provider_message_id, by=proof.by or Evidence.LATE,
        due=row.status is not Status.SENDING or row.round > 0,
    )  # fmt: skip


def _is_hearsay(row: Row) -> bool:
    """A person read the id off a screen, of the only request there was: it may be spelt wrong."""
    return row.settled_by is Evidence.PERSON and row.attempts <= 1


def _unknown(row: Row, lease: Lease, transition: MarkUnknown) -> Decision:
    if not _is_flight(row, lease):
        return Foreign(row)
    # Unknown already, perhaps by another worker's hand: this record needs its letter all the same.
    if row.status is Status.UNKNOWN or _is_attempt(row, lease):
        return _doubt(row, transition, transition.provider)
    return Foreign(row)


def _certainly_not_sent(row: Row, lease: Lease, transition: Certain) -> Decision:
    if not _is_flight(row, lease):
        return Foreign(row)
    if row.status is _target(transition) and row.status not in IN_FLIGHT:
        return Stands(None)
    if not _is_attempt(row, lease):
        return Foreign(row)
    if row.in_doubt:
        return _doubt(row, transition, row.doubt_provider or row.provider)
    return _certain(row, transition)


def _certain(row: Row, transition: Certain) -> Write:
    error, attempts = transition.error, row.attempts
    match transition:
        case MarkWaiting(release=release):
            left = _counted(row, transition)
            return Write(Status.WAITING, left, error, keeps_lease=not release)
        case MarkParked(next_round_in=seconds):
            letter = Letter(Reason.EXHAUSTED, error, seconds)
            return Write(Status.WAITING, attempts, error, due=True, letter=letter)
        case MarkFailed(reason=reason):
            letter_ = None if reason is None else Letter(reason, error)
            told = error if reason is None else f"{reason}: {error}"
            return Write(Status.FAILED, attempts, told, due=row.round > 0, letter=letter_)
        case MarkExpired():
            return Write(Status.EXPIRED, attempts, error, due=row.round > 0)
    assert_never(transition)


def _doubt(row: Row, transition: MarkUnknown | Certain, provider: str) -> Write:
    """Parked until the next look for evidence; whoever finds none left to look for opens it."""
    look_in = transition.look_in if isinstance(transition, MarkUnknown) else FIRST_LOOK
    letter = Letter(Reason.UNKNOWN, transition.error, look_in)
    counted = _counted(row, transition)
    return Write(Status.UNKNOWN, counted, transition.error, doubts=provider, letter=letter)


def _counted(row: Row, transition: Transition) -> int:
    """Attempts that count: what never reached a provider's judgement is given back, once."""
    given_back = isinstance(transition, MarkWaiting | MarkUnknown) and transition.give_back
    return row.attempts - (given_back and row.status is Status.SENDING)


def _target(transition: Certain) -> Status:
    match transition:
        case MarkWaiting() | MarkParked():
            return Status.WAITING
        case MarkFailed():
            return Status.FAILED
        case MarkExpired():
            return Status.EXPIRED
    assert_never(transition)


def _is_flight(row: Row, lease: Lease) -> bool:
    return (row.epoch, row.token) == (lease.epoch, lease.token)


def _is_attempt(row: Row, lease: Lease) -> bool:
    """A write that was delayed on its way must not speak for the attempt after its own."""
    if row.status is Status.WAITING:
        return True
    return row.status is Status.SENDING and row.attempts == lease.attempts
