"""The state's tables as the Store's, and back: phases become times, and times phases."""

from __future__ import annotations

from consumer import evidence
from consumer.guard.history import Entry
from consumer.guard.letters import LetterStatus
from consumer.model import Reason, Status
from tests.simulation.small_world.parts import (
    KEY,
    TYPE,
    WINDOW,
    Letter,
    Scenario,
    Stands,
    Tables,
)
from tests.simulation.store import Store
from tests.simulation.store_columns import Message, StoredLetter

NOW = 1_800_000_000.0
LEASE = 30.0
LONG_DEAD = NOW - 700.0  # a lease that died longer ago than the sweep waits
CLAIMED = NOW - 1000.0
ACCOUNT = "a"


class Ice:
    """Thaws and freezes the tables of one scenario."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.places = {scenario.record(n).coordinates: n for n in range(len(scenario.records))}
        self.names = [provider.name for provider in scenario.providers]

    def thaw(self, tables: Tables) -> Store:
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
            None if it.doubted is None else self.names[it.doubted],
            it.message_id, NOW if sent else None, it.kind, second_message_id=it.second,
        )  # fmt: skip

    def _stored(self, number: int, it: Letter) -> StoredLetter:
        return StoredLetter(
            number, KEY if it.keyed else None, TYPE if it.typed else None, Reason(it.reason), "",
            LetterStatus(it.status), self.scenario.record(it.record), it.failures, NOW, NOW,
            (NOW if it.due else NOW + 60.0) if it.status == "parked" else None,
            self.scenario.record(it.record).coordinates, it.replay,
        )  # fmt: skip

    def freeze(self, store: Store) -> Tables:
        row = store.db.rows.get(KEY)
        letters = sorted(map(self._frozen, store.letters()))
        return Tables(None if row is None else self._stands(store, row), tuple(letters))

    def _stands(self, store: Store, row: Message) -> Stands:
        provider = self.names.index(row.provider)
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
            None if row.doubt_provider is None else self.names.index(row.doubt_provider),
            provider, row.body_hash[0], row.body_hash[1],
            None if row.at is None else self.places[row.at], row.outcome_due,
            any(line.due for line in store.history()), row.provider_message_id,
            _kind(row.error), row.second_message_id,
        )  # fmt: skip

    def _frozen(self, letter: StoredLetter) -> Letter:
        due = letter.next_check_at is not None and letter.next_check_at <= NOW
        return Letter(
            self.places[letter.at], letter.mail_type is not None, letter.key is not None,
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


def _line_due() -> Entry:
    return Entry(KEY, "untold", None, None, 1, 1, due=True)
