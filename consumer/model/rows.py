"""The guard row: its states, the claim on it, and the transitions between them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, TypeAlias

from consumer.model.mails import Mail
from consumer.model.records import Coordinates, Reason, Record

FIRST_LOOK = 2.0  # seconds from a lost answer to the first look for evidence
# In the place of a catalogue's digest: nobody here claimed this row, it was made of the list of a
# sender from before. No digest is like it, so no fingerprint is ever compared with such a row's.
IMPORTED = "imported"


class Status(StrEnum):
    """States of a guard row. Who moves it on: DESIGN of the guard, drawn in `guard/verdict.py`."""

    SENDING = "sending"
    WAITING = "waiting"
    SENT = "sent"
    FAILED = "failed"
    UNKNOWN = "unknown"
    DISCARDED = "discarded"
    EXPIRED = "expired"


IN_FLIGHT = (Status.SENDING, Status.WAITING)  # somebody is at it, or was until a moment ago
OPEN = (*IN_FLIGHT, Status.UNKNOWN)


class Evidence(StrEnum):
    """By what an outcome was settled that nobody knew at first."""

    REPEAT = "repeat"  # the provider took our repeat under its own key
    LOOKUP = "lookup"  # it has the mail, when asked
    WEBHOOK = "webhook"  # it told by itself, signed
    ABSENCE = "absence"  # it documents when a mail is surely found, and found none: sent again
    POLICY = "policy"  # nothing was left to ask; the type's `on_unknown = "resend"` sent again
    PERSON = "person"
    LATE = "late answer"  # the first attempt's own answer, after somebody else had the row


@dataclass(frozen=True, slots=True)
class Row:
    """A guard row as read back. `lease_live` was decided by the database's clock, in that read."""

    key: str
    mail_type: str
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
    lease_live: bool
    in_doubt: bool
    coordinates: Coordinates | None
    provider_message_id: str | None = None
    sent_at: datetime | None = None
    first_attempt_at: datetime | None = None
    body_hash: bytes | None = None
    error: str | None = None
    doubt_provider: str | None = None
    version: int = 1  # n: the mail of the (n-1)th time that a person asked for it again
    settled_by: Evidence | None = None


def elapsed() -> float:
    """Seconds on a clock that never steps and, where the system has it, goes on while suspended."""
    return time.clock_gettime(_CLOCK)


_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


@dataclass(slots=True)
class Lease:
    """The right to send for a key until `ends_at`, on the clock `elapsed`.

    `ends_at` is counted from a reading taken before the claiming (or renewing) statement went out,
    so this process always believes the lease over before the database does. Renewal moves it.
    (key, epoch, token) fence every write.
    """

    key: str
    epoch: int
    token: str
    ends_at: float
    attempts: int = 1  # started so far in this round, this one included
    round: int = 0


# ── What is asked of the guard, and what it answers


@dataclass(frozen=True, slots=True)
class Claim:
    """A wish to send: everything a new guard row needs. One token a flight, kept over repeats."""

    mail: Mail
    record: Record
    token: str
    provider: str
    account: str
    body_hash: bytes
    takes: Row | None = None  # a found row to take over, at exactly the epoch it was read at
    clears_doubt: bool = False  # of an `unknown` row that is taken over: proven never sent
    late: bool = False  # the record is finished already: upstream hears from the row (outcome_due)


@dataclass(frozen=True, slots=True)
class Granted:
    """The row is ours: status `sending`, this attempt counted."""

    lease: Lease


@dataclass(frozen=True, slots=True)
class Found:
    """The row is not ours: what stands there now (by key, or by the record's coordinates)."""

    row: Row


ClaimResult: TypeAlias = Granted | Found


@dataclass(frozen=True, slots=True)
class MarkSent:
    """-> `sent`. Proof of acceptance: written in every state, whoever holds the row by then.

    `by`: None for the plain answer of an attempt that was never in doubt.
    """

    provider: str
    provider_message_id: str
    by: Evidence | None = None


@dataclass(frozen=True, slots=True)
class MarkFailed:
    """-> `failed`: certainly not sent. `reason`: an open dead letter in the same transaction."""

    error: str
    reason: Literal[Reason.REJECTED, Reason.EXHAUSTED, Reason.FUSED] | None = None


@dataclass(frozen=True, slots=True)
class MarkWaiting:
    """-> `waiting`: certainly not sent, another attempt is due.

    `give_back`: the attempt does not count. `release`: the lease ends at once, for whoever comes.
    """

    error: str
    give_back: bool = False
    release: bool = False


@dataclass(frozen=True, slots=True)
class MarkParked:
    """-> `waiting`, lease ended, and a parked dead letter `exhausted`: the next round's date."""

    error: str
    next_round_in: float  # seconds from the database's now


@dataclass(frozen=True, slots=True)
class MarkUnknown:
    """-> `unknown`, doubt set, and a parked dead letter `unknown`, in one transaction.

    `look_in`: seconds to the next look for evidence; the resolver opens the letter when none is
    left to look for. `give_back`: the attempt does not count.
    """

    error: str
    provider: str
    look_in: float = FIRST_LOOK
    give_back: bool = False


@dataclass(frozen=True, slots=True)
class MarkExpired:
    """-> `expired`: the event outlived its type's `max_age` before it could be sent."""

    error: str


Transition: TypeAlias = MarkSent | MarkFailed | MarkWaiting | MarkParked | MarkUnknown | MarkExpired


@dataclass(frozen=True, slots=True)
class Recorded:
    """The transition stands."""

    sent_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Fenced:
    """Another epoch owns the row; the transition changed nothing. `row`: what stands there."""

    row: Row | None


RecordResult: TypeAlias = Recorded | Fenced
