"""The guard: one row a key, claimed before anything is sent. The service's only SQL is behind it.

Every method repeats by itself while Postgres is away, until the guard is closed: then it raises
`GuardClosedError`. None of that counts as an attempt at a provider.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from consumer import __version__
from consumer.guard import doubts, hearing, parking, proofs, reading, sweep, telling, upkeep
from consumer.guard.attempts import Next
from consumer.guard.batches import OnBatch
from consumer.guard.catalogues import Shelf
from consumer.guard.connections import Connections, ignore_batch, log_double
from consumer.guard.hearing import NewsDue
from consumer.guard.lanes import Address
from consumer.guard.letters import DeadLetter, LetterStatus
from consumer.guard.outcomes import Ending
from consumer.guard.parking import Due, park_too
from consumer.guard.pauses import PauseTable
from consumer.guard.privacy import UNSEALED, Privacy
from consumer.guard.proofs import OnDouble
from consumer.guard.reading import Query, Story
from consumer.guard.rows import Place
from consumer.guard.schema import check_schema
from consumer.guard.sweep import abandon
from consumer.guard.takeovers import start_round
from consumer.guard.telling import Settled
from consumer.guard.unread import Unread
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
    Reason,
    Record,
    RecordResult,
    Row,
    Transition,
)

POOL_SIZE = 2  # connections for what is not hot: parking, due work, reading
LIVE_FOR = 15.0  # seconds a worker counts after its last beat


class Guard:
    """One worker's guard. Opened once; `owner` is random per process start."""

    def __init__(
        self, connections: Connections, owner: str, retention: float, on_double: OnDouble
    ) -> None:
        self._connections = connections
        self._hot = connections.hot
        self._rest = connections.rest
        self._slow = connections.slow
        self._leases = connections.leases
        self._owner = owner
        self._retention = retention
        self._on_double = on_double
        self._privacy = connections.privacy
        self.tidy = upkeep.Tidy(self._slow, self._privacy)
        self.pauses = PauseTable(connections.rest)
        self.shelf = Shelf(self._rest, retention)
        self.unread = Unread(self._rest, self._privacy)

    @classmethod
    async def open(
        cls,
        dsn: str | Callable[[], str],
        *,
        owner: str,
        lease: float,
        retention: float,
        environment: str,
        release: str = __version__,
        pgbouncer: bool = False,
        password: Callable[[], str | None] | None = None,
        on_batch: OnBatch = ignore_batch,
        on_double: OnDouble = log_double,
        pool_size: int = POOL_SIZE,
        privacy: Privacy = UNSEALED,
    ) -> Guard:
        """Check schema, environment and rights, then return the guard. Durations in seconds.

        Raises `SetupError` with what to do; `PostgresUnreachableError` is worth waiting for.
        """
        address = Address(dsn, pgbouncer, password)
        await check_schema(address, environment=environment, release=release)
        connections = Connections(address, owner, lease, on_batch, on_double, pool_size, privacy)
        return cls(connections, owner, retention, on_double)

    async def close(self) -> None:
        """End repeats with `GuardClosedError` and drop the connections. Flights end before this."""
        await self._connections.close()

    @property
    def away_since(self) -> datetime | None:
        """Since when Postgres does not answer; None: it does."""
        return self._connections.weather.down_since

    # ── The straight line

    async def look(self, key: str, mail_type: str, at: Coordinates) -> Row | None:
        """Return the row of this key, else the one of these coordinates (another key), if any."""
        return (await self._hot.looks.submit(Place(key, mail_type, at))).row

    async def claim(self, claim: Claim) -> ClaimResult:
        """Ask for the right to send. `Granted`: the row is ours, and one attempt is counted."""
        return await self._hot.claims.submit(claim)

    async def next_attempt(
        self, lease: Lease, provider: str, account: str, body_hash: bytes
    ) -> Lease | Fenced:
        """Start a further attempt of this flight: `waiting` -> `sending`.

        Returns the very `lease`, its end moved and its attempts counted up.
        """
        return await self._hot.nexts.submit(Next(lease, provider, account, body_hash))

    async def record(
        self, lease: Lease, transition: Transition, mail: Mail, record: Record
    ) -> RecordResult:
        """Write what an attempt came to, its dead letter in the same transaction.

        `Recorded` also where it was written before and the answer was lost.
        """
        return await self._hot.endings.submit(Ending(lease, transition, mail, record))

    # ── What is set aside

    async def park(self, record: Record, bad: Bad, *, fresh: bool = False) -> None:
        """Open a dead letter for a record without a row of its own; `fresh`: it came from Kafka."""
        await self._rest.run(lambda c: parking.park(c, record, bad, self._privacy, fresh=fresh))

    async def park_too(self, record: Record, mail_type: str, row: Row) -> RecordResult:
        """Park a record beside `row` (`AlsoParked`). `Fenced`: the row moved on, judge again."""
        return await self._rest.run(lambda c: park_too(c, record, mail_type, row, self._privacy))

    async def abandon(self, row: Row, mail_type: str, record: Record) -> RecordResult:
        """`sending` with a dead lease -> `unknown`, its letter parked. `Fenced`: judge again."""
        return await self._rest.run(lambda c: abandon(c, row, mail_type, record, self._privacy))

    async def take_due(self, limit: int = 20, hold_for: float = 60.0) -> list[Due]:
        """Take parked records whose time has come; they are due again after `hold_for` seconds."""
        return await self._rest.run(lambda c: parking.take_due(c, limit, hold_for, self._privacy))

    async def start_round(self, claim: Claim) -> ClaimResult:
        """Claim a `waiting` row (`claim.takes`) whose round is used up: attempts from 1 again."""
        terms = self._connections.terms()
        return await self._rest.run(lambda c: start_round(c, claim, terms))

    async def outcomes_due(self, limit: int = 100) -> list[Settled]:
        """Return rows that were settled after their record was finished, and not yet told."""
        return await self._slow.run(lambda c: telling.due(c, limit, self._privacy))

    async def outcome_told(self, row: Row) -> None:
        await self._rest.run(lambda c: telling.told(c, row))

    # ── What nobody knows

    async def prove(self, key: str, proof: MarkSent, detail: str) -> RecordResult:
        """Take proof of acceptance, in whatever state. `Fenced`: no row, or another mail."""
        alarm = self._on_double
        return await self._rest.run(lambda c: proofs.prove(c, key, proof, detail, alarm))

    async def put_off(self, row: Row, look_in: float | None, event: str, detail: str) -> bool:
        """Look again in so many seconds; None: open its letters. False: the row moved on."""
        return await self._rest.run(lambda c: doubts.put_off(c, row, look_in, event, detail))

    async def share_fate(self, letter: DeadLetter) -> None:
        """Open a letter beside somebody's open row if the row's own is open, else look later."""
        await self._rest.run(lambda c: doubts.share_fate(c, letter))

    async def wait_for_deploy(self, letter: DeadLetter, seconds: float) -> None:
        await self._rest.run(lambda c: doubts.wait_for_deploy(c, letter, seconds))

    async def replayed(self, letter: DeadLetter) -> None:
        """Close a letter whose record went through the line again, unless it failed again."""
        await self._rest.run(lambda c: doubts.replayed(c, letter))

    async def hear(self, notice: Notice) -> bool:
        """Take what a provider tells of a mail by itself. False: no such key."""
        return await self._hot.notices.submit(notice)

    async def news_due(self, limit: int = 100) -> list[NewsDue]:
        """Return bounces and complaints of which upstream has not heard."""
        return await self._rest.run(lambda c: hearing.news_due(c, limit))

    async def news_told(self, news_id: int) -> None:
        await self._rest.run(lambda c: hearing.news_told(c, news_id))

    async def stale(self, limit: int) -> list[Row]:
        """Return rows left open for ten minutes, of which no letter of their own record tells."""
        return await self._slow.run(lambda c: sweep.stale(c, limit))

    async def orphan(self, row: Row, detail: str) -> None:
        """Open a letter without a record for a stale row: its record cannot be read any more."""
        await self._rest.run(lambda c: sweep.orphan(c, row, detail))

    # ── Leases of live flights

    def hold(self, lease: Lease) -> None:
        """Have this lease renewed until `let_go`: its flight is alive in this process."""
        self._leases.hold(lease)

    def let_go(self, lease: Lease) -> None:
        self._leases.let_go(lease)

    @property
    def leases_held(self) -> int:
        return len(self._leases)

    async def renew_forever(self) -> None:
        """Renew what is held; a lease that is not ours any more gets `ends_at = 0.0`."""
        await self._leases.renew_forever()

    # ── Upkeep and reading

    async def beat(self) -> int:
        """Say that this worker lives (every 5 s); return how many do, this one included."""
        return await self._rest.run(lambda c: upkeep.beat(c, self._owner, LIVE_FOR))

    async def leave(self) -> None:
        """Stop counting as a live worker: the others get this one's share of the rate at once."""
        await self._rest.run(lambda c: upkeep.leave(c, self._owner))

    async def prune(self, limit: int = upkeep.BATCH) -> int:
        """Delete a batch of rows and closed letters past retention. 0: none left, or not ours."""
        return await self._slow.run(lambda c: upkeep.prune(c, self._retention, limit))

    async def dead_letters(self, query: Query | None = None) -> list[DeadLetter]:
        return await self._rest.run(lambda c: reading.list_letters(c, query or Query()))

    async def dead_letter(self, letter_id: int) -> DeadLetter | None:
        return await self._rest.run(lambda c: reading.get_letter(c, letter_id, self._privacy))

    async def count_dead_letters(self) -> dict[tuple[LetterStatus, Reason], int]:
        return await self._rest.run(reading.count_letters)

    async def show(self, key: str) -> Story | None:
        return await self._rest.run(lambda c: reading.show(c, key))
