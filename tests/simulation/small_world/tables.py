"""The guard's operations on the state's own tables: the real Store, thawed, used and frozen again.

An operation on the same tables has the same result, so that each is done once. Epochs and failures
are compared only for equality; they are renumbered after each step (`states.settle`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from consumer import courses
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
from tests.simulation.small_world.ice import ACCOUNT, LEASE, NOW, Ice
from tests.simulation.small_world.parts import KEY, TYPE, Held, Seen, Tables
from tests.simulation.store import Store
from tests.simulation.store_columns import StoredLetter

if TYPE_CHECKING:
    from collections.abc import Callable

    from consumer.courses import Course
    from consumer.evidence import Case
    from consumer.guard.parking import Due
    from consumer.model import Transition
    from tests.simulation.small_world.parts import Scenario

TERMS = Terms("w", LEASE, 0.0)
OPEN = ("sending", "waiting", "unknown")


class Guard:
    """All operations of one scenario, remembered."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.transitions: dict[str, Transition] = {}
        self.cases: dict[str, Case] = {}
        self._known: dict[tuple[Any, ...], tuple[Tables, Any]] = {}
        self._ice = Ice(scenario)

    def do(self, work: Callable[..., Any], tables: Tables, *args: Any) -> tuple[Tables, Any]:
        """Return the tables after `work`, and its answer."""
        asked = (work.__name__, tables, args)
        known = self._known.get(asked)
        if known is None:
            store = self._ice.thaw(tables)
            answer = work(store, *args)
            known = self._known[asked] = self._ice.freeze(store), answer
        return known

    def name(self, transition: Transition) -> str:
        """Remember a transition by a name, which is quicker to hash; errors are alike."""
        transition = (
            transition if isinstance(transition, MarkSent) else replace(transition, error="")
        )
        name = repr(transition)
        self.transitions[name] = transition
        return name

    def name_case(self, case: Case) -> str:
        name = repr(case)
        self.cases[name] = case
        return name

    # ── The line

    def look(
        self,
        store: Store,
        record: int,
        variant: int,
        replay: bool,  # noqa: FBT001 - an argument, remembered
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
            mail, self.scenario.record(record), token, self._ice.names[provider], ACCOUNT,
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
        result = store.next_attempt(lease, self._ice.names[provider], ACCOUNT, body, TERMS)
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
        place = self._ice.places[due.letter.coordinates]
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
        proof = MarkSent(self._ice.names[provider], message_id, Evidence.LOOKUP)
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
        return store.hear(Notice(KEY, self._ice.names[provider], message_id, News.ACCEPTED))

    def make_due(self, store: Store, which: int) -> None:
        store.make_due([Turn(store.letters()[which].read(), 0.0)], "a person")

    def discard(self, store: Store) -> None:
        store.discard_key(KEY, "a person")

    # ── What was read

    def seen(self, row: Row) -> Seen:
        at = None if row.coordinates is None else self._ice.places[row.coordinates]
        return Seen(
            row.status.value, row.epoch, row.attempts, self._ice.names.index(row.provider), at
        )

    def _as_read(self, store: Store, takes: Seen) -> Row:
        """The row as it was read: what is asked of it later is no more than `Seen`."""
        row = store.db.rows[KEY].read(NOW)
        at = None if takes.at is None else self.scenario.record(takes.at).coordinates
        return replace(
            row, status=Status(takes.status), epoch=takes.epoch, attempts=takes.attempts,
            provider=self._ice.names[takes.provider], coordinates=at,
        )  # fmt: skip

    def _letter(self, store: Store, letter: tuple[int, bool, int]) -> StoredLetter:
        record, typed, _ = letter
        at = self.scenario.record(record).coordinates
        return store.db.letters[at, TYPE if typed else None]


def _lease(token: str, held: Held) -> Lease:
    return Lease(KEY, held.epoch, token, 0.0, held.attempts, held.round)


def _held(lease: Lease) -> Held:
    return Held(lease.epoch, lease.attempts, lease.round)
