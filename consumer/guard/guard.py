"""The guard: one row a key, claimed before anything is sent. The service's only SQL is behind it.

Every method repeats by itself while Postgres is away, until the guard is closed (`GuardClosed`).
None of that counts as an attempt at a provider.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import structlog

from consumer import __version__
from consumer.guard import claims, outcomes, parking, reading, telling, upkeep
from consumer.guard.batches import Batches, OnBatch
from consumer.guard.claims import Next, Terms
from consumer.guard.lanes import PINNED, TIMEOUTS, Address, Lane, Lanes, Weather, is_outage
from consumer.guard.letters import DeadLetter, LetterStatus
from consumer.guard.outcomes import Ending, OnDouble
from consumer.guard.parking import Due
from consumer.guard.reading import Query, Story
from consumer.guard.rows import Place, Standing, find
from consumer.guard.schema import check_schema
from consumer.model import (
    Bad,
    Claim,
    ClaimResult,
    Coordinates,
    Fenced,
    Lease,
    Mail,
    MarkSent,
    Reason,
    Record,
    RecordResult,
    Row,
    Transition,
    elapsed,
)

RENEWALS = 6  # in the life of a lease: two may fail, and a whole attempt still fits in
LIVE_FOR = 15.0  # seconds a worker counts after its last beat
PRUNE_TIMEOUT = {"lock_timeout": "3s", "statement_timeout": "60s"}
ALL_ROWS = 1000  # a batch of pruning: short locks, short transactions


def renew_interval(lease: float) -> float:
    """Seconds between renewals of one lease. Settings demand lease > longest attempt + 2 of it."""
    return lease / RENEWALS


def _ignore_batch(kind: str, rows: int, seconds: float) -> None:
    pass


def _log_double(row: Row, proof: MarkSent) -> None:
    structlog.get_logger("guard").error(
        "accepted twice", key=row.key, first=row.provider, second=proof.provider
    )


class Guard:
    """One worker's guard. Opened once; `owner` is random per process start."""

    def __init__(
        self,
        address: Address,
        *,
        owner: str,
        lease: float,
        retention: float,
        on_batch: OnBatch = _ignore_batch,
        on_double: OnDouble = _log_double,
        spare_connections: int = 2,
    ) -> None:
        self._owner = owner
        self._lease = lease
        self._retention = retention
        self._on_double = on_double
        self._weather = Weather()
        self._held: dict[int, Lease] = {}
        pinned = partial(Lane, address, self._weather, {**TIMEOUTS, **PINNED})
        self._claiming, self._ending, self._looking, self._renewing = (pinned() for _ in range(4))
        self._rest = Lanes([Lane(address, self._weather) for _ in range(spare_connections)])
        self._pruning = Lane(address, self._weather, PRUNE_TIMEOUT)
        self._looks: Batches[Place, Standing] = Batches("look", self._run_looks, on_batch)
        self._claims: Batches[Claim, ClaimResult] = Batches("claim", self._run_claims, on_batch)
        self._nexts: Batches[Next, Lease | Fenced] = Batches("next", self._run_nexts, on_batch)
        self._endings: Batches[Ending, RecordResult] = Batches(
            "outcome", self._run_endings, on_batch
        )

    @classmethod
    async def open(
        cls,
        dsn: str,
        *,
        owner: str,
        lease: float,
        retention: float,
        environment: str,
        release: str = __version__,
        pgbouncer: bool = False,
        password: Callable[[], str] | None = None,
        on_batch: OnBatch = _ignore_batch,
        on_double: OnDouble = _log_double,
    ) -> Guard:
        """Check schema, environment and rights, then return the guard. Durations in seconds.

        Raises `SetupError` with what to do; `PostgresUnreachable` is the one worth waiting for.
        """
        address = Address(dsn, pgbouncer, password)
        await check_schema(address, environment=environment, release=release)
        return cls(
            address, owner=owner, lease=lease, retention=retention,
            on_batch=on_batch, on_double=on_double,
        )  # fmt: skip

    async def close(self) -> None:
        """End every repeat with `GuardClosed` and drop the connections. Flights end before this."""
        self._weather.closed.set()
        for lane in (self._claiming, self._ending, self._looking, self._renewing, self._pruning):
            await lane.close()
        await self._rest.close()
        for batches in (self._looks, self._claims, self._nexts, self._endings):
            await batches.drain()

    @property
    def away_since(self) -> datetime | None:
        """Since when Postgres does not answer; None: it does."""
        return self._weather.down_since

    # ── The straight line

    async def look(self, key: str, mail_type: str, at: Coordinates) -> Row | None:
        """Return the row of this key, else the one of these coordinates (another key), if any."""
        return (await self._looks.submit(Place(key, mail_type, at))).row

    async def claim(self, claim: Claim) -> ClaimResult:
        """Ask for the right to send. `Granted`: the row is ours, and one attempt is counted."""
        return await self._claims.submit(claim)

    async def next_attempt(
        self, lease: Lease, provider: str, account: str, body_hash: bytes
    ) -> Lease | Fenced:
        """Start a further attempt of this flight: `waiting` -> `sending`.

        Returns the very `lease`, its end moved and its attempts counted up.
        """
        return await self._nexts.submit(Next(lease, provider, account, body_hash))

    async def record(
        self, lease: Lease, transition: Transition, mail: Mail, record: Record
    ) -> RecordResult:
        """Write what an attempt came to, its dead letter in the same transaction.

        `Recorded` also where it was written before and the answer was lost.
        """
        return await self._endings.submit(Ending(lease, transition, mail, record))

    # ── What is set aside

    async def park(self, record: Record, bad: Bad) -> None:
        """Open a dead letter for a record without a row of its own."""
        await self._rest.run(lambda c: parking.park(c, record, bad))

    async def park_too(self, record: Record, mail: Mail, row: Row) -> RecordResult:
        """Park a record beside `row` (`AlsoParked`). `Fenced`: the row moved on, judge again."""
        return await self._rest.run(lambda c: parking.park_too(c, record, mail, row))

    async def abandon(self, row: Row, mail: Mail, record: Record) -> RecordResult:
        """`sending` with a dead lease -> `unknown`, with a letter. `Fenced`: judge again."""
        return await self._rest.run(lambda c: outcomes.abandon(c, row, mail, record))

    async def take_due(self, limit: int = 20, hold_for: float = 60.0) -> list[Due]:
        """Take parked records whose time has come; they are due again after `hold_for` seconds."""
        return await self._rest.run(lambda c: parking.take_due(c, limit, hold_for))

    async def start_round(self, claim: Claim) -> ClaimResult:
        """Claim a `waiting` row (`claim.takes`) whose round is used up: attempts from 1 again."""
        terms = self._terms()
        return await self._rest.run(lambda c: claims.start_round(c, claim, terms))

    async def outcomes_due(self, limit: int = 100) -> list[Row]:
        """Return rows that were settled after their record was finished, and not yet told."""
        return await self._rest.run(lambda c: telling.due(c, limit))

    async def outcome_told(self, row: Row) -> None:
        """Say that the outcome record of this row is acked."""
        await self._rest.run(lambda c: telling.told(c, row))

    # ── Leases of live flights

    def hold(self, lease: Lease) -> None:
        """Have this lease renewed until `let_go`: its flight is alive in this process."""
        self._held[id(lease)] = lease

    def let_go(self, lease: Lease) -> None:
        self._held.pop(id(lease), None)

    @property
    def leases_held(self) -> int:
        return len(self._held)

    async def renew_forever(self) -> None:
        """Renew what is held, one statement a tick; ends when the guard is closed."""
        pause = renew_interval(self._lease) / 2
        while not self._weather.closed.is_set():
            await self.renew()
            try:
                async with asyncio.timeout(pause):
                    await self._weather.closed.wait()
            except TimeoutError:
                continue

    async def renew(self) -> None:
        """Renew the held leases that are an interval old. Postgres away: they run out."""
        terms = self._terms()
        fresh = terms.ends_at - renew_interval(self._lease)
        old = [lease for lease in self._held.values() if lease.ends_at <= fresh]
        if not old:
            return
        try:
            await self._renewing.run_once(lambda c: upkeep.renew(c, old, terms))
        except Exception as error:
            if not is_outage(error):
                raise
            self._weather.failed(error)

    # ── Upkeep and reading

    async def beat(self) -> int:
        """Say that this worker lives (every 5 s); return how many do, this one included."""
        return await self._rest.run(lambda c: upkeep.beat(c, self._owner, LIVE_FOR))

    async def leave(self) -> None:
        """Stop counting as a live worker: the others get this one's share of the rate at once."""
        await self._rest.run(lambda c: upkeep.leave(c, self._owner))

    async def prune(self, limit: int = ALL_ROWS) -> int:
        """Delete a batch of rows past retention; return how many. 0: nothing left, or not ours."""
        return await self._pruning.run(lambda c: upkeep.prune(c, self._retention, limit))

    async def dead_letters(self, query: Query | None = None) -> list[DeadLetter]:
        return await self._rest.run(lambda c: reading.list_letters(c, query or Query()))

    async def dead_letter(self, letter_id: int) -> DeadLetter | None:
        """Return one letter with its record, byte for byte."""
        return await self._rest.run(lambda c: reading.get_letter(c, letter_id))

    async def count_dead_letters(self) -> dict[tuple[LetterStatus, Reason], int]:
        return await self._rest.run(reading.count_letters)

    async def show(self, key: str) -> Story | None:
        return await self._rest.run(lambda c: reading.show(c, key))

    # ── How batches run

    def _terms(self) -> Terms:
        return Terms(self._owner, self._lease, elapsed())

    async def _run_looks(self, places: Sequence[Place]) -> list[Standing]:
        return await self._looking.run(lambda c: find(c, places))

    async def _run_claims(self, items: Sequence[Claim]) -> list[ClaimResult]:
        terms = self._terms()  # before the first try: a repeat never lengthens what we believe
        return await self._claiming.run(lambda c: claims.claim(c, items, terms))

    async def _run_nexts(self, items: Sequence[Next]) -> list[Lease | Fenced]:
        terms = self._terms()
        return await self._claiming.run(lambda c: claims.next_attempt(c, items, terms))

    async def _run_endings(self, items: Sequence[Ending]) -> list[RecordResult]:
        return await self._ending.run(lambda c: self._record(c, items))

    async def _record(self, connection: Any, items: Sequence[Ending]) -> list[RecordResult]:
        return await outcomes.record(connection, items, self._on_double)
