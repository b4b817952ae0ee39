"""The guard's operations on the state's own tables: the real Store, thawed, used and frozen again.

An operation on the same tables has the same result, so that each is done once. Epochs and failures
are compared only for equality; they are renumbered after each step (`states.settle`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from consumer import courses, evidence
from consumer.guard.history import Entry
from consumer.guard.letters import LetterStatus
from consumer.guard.operators import Turn
from consumer.guard.terms import Terms
from consumer.model import (
    Bad,
    Claim,
    Evidence,
    Fenced,
    Granted,
    Lease,
    MarkSent,
    News,
    Notice,
    Reason,
    Recorded,
    Row,
    Status,
)
from tests.simulation.small_world.parts import KEY, TYPE, WINDOW, Held, Letter, Seen, Stands, Tables
from tests.simulation.store import Store
from tests.simulation.store_columns import Message, StoredLetter

if TYPE_CHECKING:
    from collections.abc import Callable

    from consumer.courses import Course
    from consumer.evidence import Case
    from consumer.guard.parking import Due
    from consumer.model import Transition
    from tests.simulation.small_world.parts import Scenario

NOW = 1_800_000_000.0
LEASE = 30.0
LONG_DEAD = NOW - 700.0  # a lease that died longer ago than the sweep waits
CLAIMED = NOW - 1000.0
TERMS = Terms("w", LEASE, 0.0)
ACCOUNT = "a"
OPEN = ("sending", "waiting", "unknown")


class Guard:
    """All operations of one scenario, remembered."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.transitions: dict[str, Transition] = {}
        self.cases: dict[str, Case] = {}
        self._known: dict[tuple[Any, ...], tuple[Tables, Any]] = {}
        self._places = {scenario.record(n).coordinates: n for n in range(len(scenario.records))}
        self._names = [provider.name for provider in scenario.providers]

    def do(
        self, work: Callable[..., Any], tables: Tables, *args: Any
    ) -> tuple[Tables, Any]:
        """Return the tables after `work`, and its answer."""
        asked = (work.__name__, tables, args)
        known = self._known.get(asked)
        if known is None:
            store = self._thaw(tables)
            answer = work(store, *args)
            known = self._known[asked] = self._freeze(store), answer
        return known

    def name(self, transition: Transition) -> str:
        """Remember a transition by a name, which is quicker to hash; errors are alike."""
        transition = transition if isinstance(transition, MarkSent) else replace(transition, error="")
        name = repr(transition)
        self.transitions[name] = transition
        return name

    def name_case(self, case: Case) -> str:
        name = repr(case)
        self.cases[name] = case
        return name

    # ── The line

    def look(
        self, store: Store, record: int, variant: int, replay: bool  # noqa: FBT001 - an argument, remembered
    ) -> tuple[str, Seen | None]:
        mail, at = self.scenario.mail(record, variant), self.scenario.record(record).coordinates
        row = store.look(KEY, TYPE, at)
        if row is None:
            return "Nothing", None
        found = courses.verdict(row, mail, at, self.scenario.cap, replay=replay)
        return type(found).__name__, self.seen(row)

    def claim(
        self, store: Store, token: str, record: int, variant: int, provider: int,
        takes: Seen | None, clears: bool, late: bool,  # noqa: FBT001 - a tuple of arguments, remembered
    ) -> Held | None:  # fmt: skip
        mail = self.scenario.mail(record, variant)
        row = None if takes is None else self._as_read(store, takes)
        claim = Claim(
            mail, self.scenario.record(record), token, self._names[provider], ACCOUNT,
            self.scenario.body(record, variant), row, clears, late,
        )  # fmt: skip
        used_up = row is not None and row.status is Status.WAITING
        again = used_up and row is not None and row.attempts >= self.scenario.cap
        result = (store.start_round if again else store.claim)(claim, TERMS)
        return _held(result.lease) if isinstance(result, Granted) else None

    def next_attempt(
        self, store: Store, token: str, held: Held, record: int, variant: int, provider: int
    ) -> Held | None:
        body = self.scenario.body(record, variant)
        lease = _lease(token, held)
        result = store.next_attempt(lease, self._names[provider], ACCOUNT, body, TERMS)
        return None if isinstance(result, Fenced) else _held(result)

    def record(
        self, store: Store, token: str, held: Held, record: int, variant: int, does: str
    ) -> Held | None:
        lease, mail = _lease(token, held), self.scenario.mail(record, variant)
        result = store.record(lease, self.transitions[does], mail, self.scenario.record(record))
        return _held(lease) if isinstance(result, Recorded) else None

    def renew(self, store: Store, token: str, held: Held) -> bool:
        lease = replace(_lease(token, held), ends_at=1.0)
        store.renew([lease], TERMS)
        return lease.ends_at > 0

    def park(self, store: Store, record: int) -> None:
        store.park(self.scenario.record(record), Bad(Reason.MALFORMED, "cannot be read"))

    def refuse(self, store: Store, record: int, reason: str) -> None:
        store.park(self.scenario.record(record), Bad(Reason(reason), "refused", TYPE, KEY))

    def park_too(self, store: Store, record: int, takes: Seen) -> bool:
        row = self._as_read(store, takes)
        return isinstance(store.park_too(self.scenario.record(record), TYPE, row), Recorded)

    def abandon(self, store: Store, record: int, takes: Seen) -> bool:
        row = self._as_read(store, takes)
        return isinstance(store.abandon(row, TYPE, self.scenario.record(record)), Recorded)

    # ── The resolver

    def take_due(self, store: Store, which: int, variant: int) -> tuple[Due, Course]:
        """Take this letter, none of the others, and say what it asks for."""
        others = [letter for n, letter in enumerate(store.letters()) if n != which]
        dates = [letter.next_check_at for letter in others]
        for letter in others:
            letter.next_check_at = NOW + 1000.0
        [due] = store.take_due(1)
        for letter, date in zip(others, dates, strict=True):
            letter.next_check_at = date
        place = self._places[due.letter.coordinates]
        unreadable = Bad(Reason.MALFORMED, "cannot be read")
        readable = variant not in self.scenario.unreadable
        read = self.scenario.mail(place, variant) if readable else unreadable
        return due, courses.course(due.letter, due.row, read)

    def put_off(self, store: Store, takes: Seen, look_in: float | None) -> bool:
        return store.put_off(self._as_read(store, takes), look_in, "looked", "")

    def share_fate(self, store: Store, letter: tuple[int, bool, int]) -> None:
        store.share_fate(self._letter(store, letter).read())

    def wait_for_deploy(self, store: Store, letter: tuple[int, bool, int]) -> None:
        store.wait_for_deploy(self._letter(store, letter).read(), 600.0)

    def replayed(self, store: Store, letter: tuple[int, bool, int]) -> None:
        store.replayed(replace(self._letter(store, letter).read(), failures=letter[2]))

    def prove(self, store: Store, provider: int, message_id: str) -> None:
        proof = MarkSent(self._names[provider], message_id, Evidence.LOOKUP)
        store.prove(KEY, proof, "found when asked")

    def outcomes_due(self, store: Store) -> Seen | None:
        due = store.outcomes_due()
        return self.seen(due[0].row) if due else None

    def outcome_told(self, store: Store, takes: Seen) -> None:
        store.outcome_told(self._as_read(store, takes))

    def stale(self, store: Store) -> Seen | None:
        found = store.stale()
        return self.seen(found[0]) if found else None

    # ── What others do

    def hear(self, store: Store, provider: int, message_id: str) -> bool:
        return store.hear(Notice(KEY, self._names[provider], message_id, News.ACCEPTED))

    def make_due(self, store: Store, which: int) -> None:
        store.make_due([Turn(store.letters()[which].read(), 0.0)], "a person")

    def discard(self, store: Store) -> None:
        store.discard_key(KEY, "a person")

    # ── Thawing and freezing

    def seen(self, row: Row) -> Seen:
        at = None if row.coordinates is None else self._places[row.coordinates]
        return Seen(row.status.value, row.epoch, row.attempts, self._names.index(row.provider), at)

    def _as_read(self, store: Store, takes: Seen) -> Row:
        """The row as it was read: what is asked of it later is no more than `Seen`."""
        row = store.db.rows[KEY].read(NOW)
        at = None if takes.at is None else self.scenario.record(takes.at).coordinates
        return replace(
            row, status=Status(takes.status), epoch=takes.epoch, attempts=takes.attempts,
            provider=self._names[takes.provider], coordinates=at,
        )  # fmt: skip

    def _letter(self, store: Store, letter: tuple[int, bool, int]) -> StoredLetter:
        record, typed, _ = letter
        at = self.scenario.record(record).coordinates
        return store.db.letters[at, TYPE if typed else None]

    def _thaw(self, tables: Tables) -> Store:
        store = Store(now=NOW)
        if tables.row is not None:
            row = self._row(tables.row)
            store.db.rows[KEY] = row
            if row.place is not None:
                store.db.places[row.place] = KEY
            if tables.row.line_due:
                store.db.write_line(_line_due())
        for n, letter in enumerate(tables.letters):
            stored = self._stored(n + 1, letter)
            store.db.letters[stored.place] = stored
        store.db.letter_ids = len(tables.letters)
        return store

    def _row(self, it: Stands) -> Message:
        provider = self.scenario.providers[it.provider]
        at = None if it.at is None else self.scenario.record(it.at).coordinates
        sent = it.status == "sent"
        return Message(
            KEY, TYPE, "a@example.com", Status(it.status), f"f{it.content}.{it.variant}",
            f"d{it.variant}", provider.name, ACCOUNT, it.attempts, it.round, it.epoch, "w",
            it.token, None if it.lease is None else NOW + LEASE if it.lease else LONG_DEAD,
            NOW - (0.0, WINDOW - evidence.WINDOW_MARGIN, WINDOW)[it.first],
            NOW - _deadlines(provider.visible)[it.deadline],
            bytes([it.content, it.variant]) * 16, at, CLAIMED, it.due,
            None if it.doubt is None else NOW - _doubts(provider.visible)[it.doubt],
            None if it.doubted is None else self._names[it.doubted],
            it.message_id, NOW if sent else None, it.kind, second_message_id=it.second,
        )  # fmt: skip

    def _stored(self, number: int, it: Letter) -> StoredLetter:
        return StoredLetter(
            number, KEY if it.keyed else None, TYPE if it.typed else None, Reason(it.reason), "",
            LetterStatus(it.status), self.scenario.record(it.record), it.failures, NOW, NOW,
            (NOW if it.due else NOW + 60.0) if it.status == "parked" else None,
            self.scenario.record(it.record).coordinates, it.replay,
        )  # fmt: skip

    def _freeze(self, store: Store) -> Tables:
        row = store.db.rows.get(KEY)
        letters = sorted(map(self._frozen, store.letters()))
        return Tables(None if row is None else self._stands(store, row), tuple(letters))

    def _stands(self, store: Store, row: Message) -> Stands:
        provider = self._names.index(row.provider)
        means = self.scenario.providers[provider]
        assert row.first_attempt_at is not None
        assert row.attempt_deadline is not None
        assert row.body_hash is not None
        first = NOW - row.first_attempt_at
        return Stands(
            row.status.value, row.attempts, row.round, row.epoch, row.token,
            None if row.lease_until is None else int(row.lease_until > NOW),
            (first >= WINDOW - evidence.WINDOW_MARGIN) + (first >= WINDOW) if means.native else 0,
            _phase(NOW - row.attempt_deadline, _deadlines(means.visible)),
            None if row.doubt_since is None
            else _phase(NOW - row.doubt_since, _doubts(means.visible)),
            None if row.doubt_provider is None else self._names.index(row.doubt_provider),
            provider, row.body_hash[0], row.body_hash[1],
            None if row.at is None else self._places[row.at], row.outcome_due,
            any(line.due for line in store.history()), row.provider_message_id,
            _kind(row.error), row.second_message_id,
        )  # fmt: skip

    def _frozen(self, letter: StoredLetter) -> Letter:
        due = letter.next_check_at is not None and letter.next_check_at <= NOW
        return Letter(
            self._places[letter.at], letter.mail_type is not None, letter.key is not None,
            letter.reason.value, letter.status.value, due, letter.replay, letter.failures,
        )  # fmt: skip


def _deadlines(visible: float | None) -> tuple[float, ...]:
    """Ages of the deadline at which something changes; without a lookup nothing asks for it."""
    if visible is None:
        return (-LEASE,)
    return (-LEASE, 0.0, evidence.TRANSIT, evidence.TRANSIT + visible)


def _doubts(visible: float | None) -> tuple[float, ...]:
    return (0.0, evidence.PUSH_PATIENCE, (visible or 0.0) + evidence.ASK_PATIENCE)


def _phase(age: float, ages: tuple[float, ...]) -> int:
    return max(n for n, at in enumerate(ages) if age >= at)


def _kind(error: str | None) -> str | None:
    kind = (error or "").partition(":")[0]
    return f"{kind}: " if kind in (Reason.REJECTED, Reason.EXHAUSTED) else None


def _lease(token: str, held: Held) -> Lease:
    return Lease(KEY, held.epoch, token, 0.0, held.attempts, held.round)


def _held(lease: Lease) -> Held:
    return Held(lease.epoch, lease.attempts, lease.round)


def _line_due() -> Entry:
    return Entry(KEY, "untold", None, None, 1, 1, due=True)
