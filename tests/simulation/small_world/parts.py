"""What the small world is made of: a scenario's choices, and a state of it. Immutable, hashable.

Time is only what it is compared with: a lease is live or dead, a window open or shut, an absence
counts or does not. A worker may be slow for as long as anything else takes, so that a freeze is
nothing special: the other steps, and time, simply go first.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import NamedTuple

from consumer.evidence import Means
from consumer.model import Mail, MailType, OnUnknown, Record

WINDOW = 86400.0  # seconds for which the provider with a native key remembers it
KEY = "k" * 48
TYPE = "order.receipt"
WORKERS = ("A", "B")


class Provider(NamedTuple):
    """One class of provider. `visible`: seconds until a lookup surely finds; None: no lookup."""

    name: str
    native: bool = False
    visible: float | None = None
    documents: bool = False
    pushes: bool = False

    @property
    def means(self) -> Means:
        window = WINDOW if self.native else 0.0
        return Means(window, self.visible, self.documents, self.pushes)


class Place(NamedTuple):
    """A record: where it lies, and what its mail says (records with one key should agree)."""

    partition: int = 0
    offset: int = 0
    content: int = 0


@dataclass(frozen=True, slots=True)
class Scenario:
    """One small world: everything else in it may happen in any order."""

    name: str
    providers: tuple[Provider, ...]
    policy: OnUnknown = OnUnknown.HOLD
    records: tuple[Place, ...] = (Place(),)
    cap: int = 2  # attempts a round
    rounds: int = 0  # after the first
    crashes: bool = True
    counts: bool = False  # requests are counted, to hold them against the cap
    rebalances: bool = True
    ages: bool = False  # the event may become too old
    deploys: int = 0  # each changes what is rendered; `unreadable` ones cannot read the record
    unreadable: frozenset[int] = frozenset()
    sweeps: bool = True
    folds: bool = True  # what is refused for sure is not told apart; a removed fence wants False
    replays: int = 0  # what a person may do, and how often
    discards: int = 0

    @property
    def partitions(self) -> int:
        return 1 + max(place.partition for place in self.records)

    def record(self, number: int) -> Record:
        return _record(self.records[number])

    def mail(self, number: int, variant: int) -> Mail:
        return _mail(self.records[number].content, variant, self.policy, self.providers)

    def body(self, number: int, variant: int) -> bytes:
        return bytes([self.records[number].content, variant]) * 16


@cache
def _record(place: Place) -> Record:
    return Record("orders", place.partition, place.offset, 1, None, b"{}")


@cache
def _mail(content: int, variant: int, policy: OnUnknown, providers: tuple[Provider, ...]) -> Mail:
    names = tuple(provider.name for provider in providers)
    mail_type = MailType(
        TYPE, "orders", names, "shop", 86400.0, on_unknown=policy, digest=f"d{variant}"
    )
    fingerprint = f"f{content}.{variant}"
    return Mail(
        mail_type, KEY, "1", "a@example.com", fingerprint, {}, datetime(2026, 1, 1, tzinfo=UTC)
    )


# ── A state


class Stands(NamedTuple):
    """The guard row, its times as phases.

    lease      1 live, 0 dead, None: there is none
    first      age of the first attempt: 0 window open, 1 too near its end, 2 the provider forgot
    deadline   0 bytes may leave, 1 they may be under way, 2 not any more, 3 a lookup finds them
    doubt      0 fresh, 1 its webhook was waited for, 2 asked for too long without an answer
    """

    status: str
    attempts: int
    round: int
    epoch: int
    token: str
    lease: int | None
    first: int
    deadline: int
    doubt: int | None
    doubted: int | None  # the provider
    provider: int
    content: int
    variant: int
    at: int | None  # the record whose coordinates it has
    due: bool
    line_due: bool
    message_id: str | None
    kind: str | None  # of its error: rejected, exhausted
    second: str | None


class Letter(NamedTuple):
    record: int
    typed: bool
    keyed: bool
    reason: str
    status: str
    due: bool
    replay: bool
    failures: int


class Tables(NamedTuple):
    row: Stands | None = None
    letters: tuple[Letter, ...] = ()


class Seen(NamedTuple):
    """As much of a row as whoever read it goes by later."""

    status: str
    epoch: int
    attempts: int
    provider: int
    at: int | None


class Held(NamedTuple):
    """A lease in a worker's hands. `live`: as far as the worker may believe."""

    epoch: int
    attempts: int
    round: int
    live: bool = True


class Task(NamedTuple):
    """Work in hand: a record on the line, or a letter at the resolver. `at`: its next step."""

    at: str
    kind: str  # line, replay, once (the resolver's others), tell, sweep
    record: int = 0
    variant: int = 0
    tracked: bool = True  # the ownership that delivered it still stands
    letter: tuple[int, bool, int] | None = None  # record, typed, failures as read
    person: bool = False  # a person made it due
    takes: Seen | None = None
    clears: bool = False
    tried: bool = False  # the claim was sent before, and its answer lost
    held: Held | None = None
    provider: int = 0
    by: str | None = None  # in doubt: what an acceptance is then settled by
    window: bool = True  # the native window, where one is kept, is open
    does: str | None = None  # a transition or a step, by name


class Follows(NamedTuple):
    """A `Tracker`, as values."""

    open: tuple[int, ...] = ()
    done: tuple[int, ...] = ()
    last: int = -1
    prefix: int = -1
    committed: int = -1


class Worker(NamedTuple):
    line: Task | None = None
    resolver: Task | None = None
    follows: tuple[Follows | None, ...] = ()


class Request(NamedTuple):
    """Bytes under way. `slot`: whose answer is waited for, None: nobody's any more."""

    provider: int
    variant: int
    slot: tuple[int, str] | None


class State(NamedTuple):
    tables: Tables
    workers: tuple[Worker, ...]
    owners: tuple[int, ...]  # by partition
    committed: tuple[int, ...]
    net: tuple[Request, ...] = ()
    accepted: tuple[int, ...] = ()  # mails, by provider: the ledger
    remembers: int | None = None  # the bytes that the provider with a native key has
    told: tuple[str, ...] = ()  # ends of records that upstream heard of
    counted: int = 0  # requests that count as attempts, since the last claim of a failed row
    old: bool = False
    deploy: int = 0
    replays: int = 0
    discards: int = 0
    heard: bool = False  # proof came in by webhook
    excuse: bool = False  # an `unknown` is in order: bytes left, or a worker died
