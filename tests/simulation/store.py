"""The whole guard as a plain object: no Postgres, no loop, and a clock that stands until it is set.

Every operation of `consumer.guard.Guard`, with its arguments and its answers, at once and whole: a
simulation decides when it happens, whether it happens, and whether the answer arrives. The pure
parts are the real ones (`transitions.decide`); what Postgres does is said again in Python, and held
against Postgres by `tests/integration/guard/test_model.py`.

    store = Store(now=1_800_000_000.0)
    terms = Terms(owner, lease, started)       # of guard.terms; `started` on the worker's clock
    match store.claim(claim, terms): ...
    store.now += 30

Where the real guard writes to the `Lease` it was given, so does this one, at the moment of the
call. A simulation in which answers can be lost hands in a copy and carries it over when the answer
arrives. What runs in several statements there runs at once here: between them nothing else can
happen, except what a lost connection and a repeat make of it.

store.py ─▶ store_claims.py   store_flights.py   store_outcomes.py   store_letters.py
            store_news.py     store_upkeep.py    store_desk.py       store_links.py
            store_imports.py
         ─▶ store_tables.py   store_columns.py   rows, unique indexes, CHECKs
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from consumer.guard.hearing import NewsDue
from consumer.guard.imports import Past, Stands
from consumer.guard.letters import DeadLetter
from consumer.guard.operators import DiscardResult, Turn
from consumer.guard.outcomes import Ending
from consumer.guard.parking import Due
from consumer.guard.resends import Resend, ResendResult
from consumer.guard.telling import Settled
from consumer.guard.terms import Terms
from consumer.model import (
    Bad,
    Claim,
    ClaimResult,
    Coordinates,
    Fenced,
    Lease,
    Mail,
    MarkSent,
    Notice,
    Record,
    RecordResult,
    Row,
    Transition,
)
from tests.simulation import (
    store_claims,
    store_desk,
    store_flights,
    store_imports,
    store_letters,
    store_news,
    store_outcomes,
    store_upkeep,
)
from tests.simulation.store_columns import Line, Message, StoredLetter
from tests.simulation.store_tables import Database

RETENTION = 30 * 86400.0


class Store:
    """What all workers share. `db`: the tables, for an oracle to look at."""

    def __init__(self, *, now: float = 0.0, retention: float = RETENTION) -> None:
        self.db = Database(now)
        self.retention = retention
        self.doubles: list[tuple[Row, MarkSent]] = []  # what `on_double` was told

    @property
    def now(self) -> float:
        """Seconds since 1970, the database's clock."""
        return self.db.now

    @now.setter
    def now(self, seconds: float) -> None:
        self.db.now = seconds

    # ── The straight line

    def look(self, key: str, mail_type: str, at: Coordinates) -> Row | None:
        return store_claims.look(self.db, key, mail_type, at)

    def claim(self, claim: Claim, terms: Terms) -> ClaimResult:
        return store_claims.claim(self.db, [claim], terms)[0]

    def claim_all(self, claims: Sequence[Claim], terms: Terms) -> list[ClaimResult]:
        """Claim as one batch: inserts first, sorted by key; then takeovers; then the losers."""
        return store_claims.claim(self.db, claims, terms)

    def start_round(self, claim: Claim, terms: Terms) -> ClaimResult:
        return store_claims.start_round(self.db, claim, terms)

    def next_attempt(
        self, lease: Lease, provider: str, account: str, body_hash: bytes, terms: Terms
    ) -> Lease | Fenced:
        return store_flights.next_attempt(self.db, lease, provider, account, body_hash, terms)

    def record(
        self, lease: Lease, transition: Transition, mail: Mail, record: Record
    ) -> RecordResult:
        return self.record_all([Ending(lease, transition, mail, record)])[0]

    def record_all(self, endings: Sequence[Ending]) -> list[RecordResult]:
        """Write a batch: the flights' own acceptances first, then the others, in order."""
        return store_outcomes.record(self.db, endings, self._on_double)

    def renew(self, leases: Sequence[Lease], terms: Terms) -> None:
        """Renew exactly these flights; one that is not ours any more gets `ends_at = 0.0`."""
        store_flights.renew(self.db, leases, terms)

    # ── What is set aside

    def park(self, record: Record, bad: Bad, *, fresh: bool = False) -> None:
        store_letters.park(self.db, record, bad, fresh=fresh)

    def park_too(self, record: Record, mail_type: str, row: Row) -> RecordResult:
        return store_letters.park_too(self.db, record, mail_type, row)

    def abandon(self, row: Row, mail_type: str, record: Record) -> RecordResult:
        return store_outcomes.abandon(self.db, row, mail_type, record)

    def orphan(self, row: Row, detail: str) -> None:
        store_outcomes.orphan(self.db, row, detail)

    def take_due(
        self, limit: int = 20, hold_for: float = 60.0, *, read_at: float = 0.0
    ) -> list[Due]:
        """`read_at`: the worker's own clock before it asked, handed back in `Age`."""
        return store_letters.take_due(self.db, limit, hold_for, read_at)

    # ── Evidence

    def prove(self, key: str, proof: MarkSent, detail: str) -> RecordResult:
        return store_outcomes.prove(self.db, key, proof, detail, self._on_double)

    def put_off(self, row: Row, look_in: float | None, event: str, detail: str) -> bool:
        return store_letters.put_off(self.db, row, look_in, event, detail)

    def share_fate(self, letter: DeadLetter) -> None:
        store_letters.share_fate(self.db, letter)

    def wait_for_deploy(self, letter: DeadLetter, seconds: float) -> None:
        store_letters.wait_for_deploy(self.db, letter, seconds)

    def replayed(self, letter: DeadLetter) -> None:
        store_letters.replayed(self.db, letter)

    def hear(self, notice: Notice) -> bool:
        return store_news.hear(self.db, notice, self._on_double)

    # ── What has to be published

    def outcomes_due(self, limit: int = 100) -> list[Settled]:
        return store_news.outcomes_due(self.db, limit)

    def outcome_told(self, row: Row) -> None:
        store_news.outcome_told(self.db, row)

    def news_due(self, limit: int = 100) -> list[NewsDue]:
        return store_news.news_due(self.db, limit)

    def news_told(self, news_id: int) -> None:
        store_news.news_told(self.db, news_id)

    # ── What a person does (`consumer.guard.desk`)

    def make_due(self, turns: Sequence[Turn], note: str) -> set[int]:
        return store_desk.make_due(self.db, turns, note)

    def discard_letter(self, letter_id: int, note: str) -> DiscardResult:
        return store_desk.discard_letter(self.db, letter_id, note)

    def bring_in(self, mails: Sequence[Past], token: str) -> Mapping[str, Stands]:
        return store_imports.bring_in(self.db, mails, token)

    def discard_key(self, key: str, note: str) -> DiscardResult:
        return store_desk.discard_key(self.db, key, note)

    def resend(self, wish: Resend) -> ResendResult:
        return store_desk.resend(self.db, wish)

    # ── Upkeep and reading

    def stale(self, limit: int = 50) -> list[Row]:
        return store_upkeep.stale(self.db, limit)

    def beat(self, owner: str, live_for: float = 15.0) -> int:
        return store_upkeep.beat(self.db, owner, live_for)

    def leave(self, owner: str) -> None:
        store_upkeep.leave(self.db, owner)

    def prune(self, limit: int = 1000) -> int:
        return store_upkeep.prune(self.db, self.retention, limit)

    def rows(self) -> list[Message]:
        """All rows, for an oracle; not to be changed."""
        return list(self.db.rows.values())

    def letters(self) -> list[StoredLetter]:
        """All dead letters, for an oracle; not to be changed."""
        return list(self.db.letters.values())

    def history(self) -> list[Line]:
        return self.db.history

    def _on_double(self, row: Row, proof: MarkSent) -> None:
        self.doubles.append((row, proof))
