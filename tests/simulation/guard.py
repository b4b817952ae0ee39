"""One worker's guard over the shared store: the statements travel, the answers may be lost.

The client's part is as the real one has it: what got no answer is repeated, until the guard is
closed; the terms of a claim are taken before its first try; leases are renewed by the real
`Leases`. Where a look finds nothing to do, its answer comes when there is something (`take_due`,
`stale`): a slow database, which saves a world most of its empty turns.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from copy import copy
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, TypeVar, cast

from consumer.guard.errors import GuardClosedError
from consumer.guard.hearing import NewsDue
from consumer.guard.leases import Leases, renew_interval
from consumer.guard.letters import DeadLetter
from consumer.guard.parking import Due
from consumer.guard.telling import Settled
from consumer.guard.terms import Terms
from consumer.model import (
    OPEN,
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
    Recorded,
    RecordResult,
    Row,
    Transition,
    elapsed,
)
from tests.simulation.database import SimDatabase
from tests.simulation.network import LOST

T = TypeVar("T")


class SimGuard:
    def __init__(self, database: SimDatabase, owner: str, lease: float) -> None:
        self.owner, self._lease = owner, lease
        self._database = database
        self._closed = asyncio.Event()
        self._waiting: set[asyncio.Future[Any]] = set()
        self._leases = Leases(cast("Any", self), cast("Any", None), lease)
        self._held = asyncio.Event()
        self.shelf = self  # it has an `edition` too

    async def close(self) -> None:
        self._closed.set()
        for answer in self._waiting:
            if not answer.done():
                answer.set_result(LOST)

    # ── The straight line

    async def look(self, key: str, mail_type: str, at: Coordinates) -> Row | None:
        return await self._run("look", lambda store: store.look(key, mail_type, at))

    async def claim(self, claim: Claim) -> ClaimResult:
        terms = self._terms()
        result = await self._run("claim", lambda store: store.claim(claim, terms), claim.mail.key)
        return cast("ClaimResult", result)

    async def start_round(self, claim: Claim) -> ClaimResult:
        terms, key = self._terms(), claim.mail.key
        result = await self._run("start round", lambda store: store.start_round(claim, terms), key)
        return cast("ClaimResult", result)

    async def next_attempt(
        self, lease: Lease, provider: str, account: str, body_hash: bytes
    ) -> Lease | Fenced:
        terms, sent = self._terms(), copy(lease)  # as it is now: an effect may come much later
        result = await self._run(
            "next attempt",
            lambda store: store.next_attempt(copy(sent), provider, account, body_hash, terms),
            lease.key,
        )
        if isinstance(result, Fenced):
            return result
        lease.epoch, lease.attempts = result.epoch, result.attempts
        lease.ends_at = max(lease.ends_at, result.ends_at)
        return lease

    async def record(
        self, lease: Lease, transition: Transition, mail: Mail, record: Record
    ) -> RecordResult:
        sent = copy(lease)

        def write(store: Any) -> tuple[RecordResult, int]:
            theirs = copy(sent)
            result = store.record(theirs, transition, mail, record)
            if isinstance(result, Recorded) and store.db.rows[sent.key].status not in OPEN:
                self._database.flown.add(record.coordinates)
            return result, theirs.attempts

        result, lease.attempts = await self._run("record", write, lease.key, transition)
        return result

    # ── What is set aside

    async def park(self, record: Record, bad: Bad, *, fresh: bool = False) -> None:
        park = lambda store: store.park(record, bad, fresh=fresh)  # noqa: E731 - one of many
        await self._run("park", park, _at(record), bad.reason)

    async def park_too(self, record: Record, mail_type: str, row: Row) -> RecordResult:
        park = lambda store: store.park_too(record, mail_type, row)  # noqa: E731 - one of many
        return await self._run("park too", park, row.key, _at(record))

    async def abandon(self, row: Row, mail_type: str, record: Record) -> RecordResult:
        return await self._run(
            "abandon", lambda store: store.abandon(row, mail_type, record), row.key
        )

    async def orphan(self, row: Row, detail: str) -> None:
        await self._run("orphan", lambda store: store.orphan(row, detail), row.key)

    async def take_due(self, limit: int = 20) -> list[Due]:
        await self._until(self._database.letters_wake)
        read_at = elapsed()
        due = await self._run("take due", lambda store: store.take_due(limit, read_at=read_at))
        return cast("list[Due]", due)

    # ── Evidence

    async def prove(self, key: str, proof: MarkSent, detail: str) -> RecordResult:
        return await self._run("prove", lambda store: store.prove(key, proof, detail), key, detail)

    async def put_off(self, row: Row, look_in: float | None, event: str, detail: str) -> bool:
        put_off = lambda store: store.put_off(row, look_in, event, detail)  # noqa: E731 - one of many
        return await self._run("put off", put_off, row.key, look_in, event, detail)

    async def share_fate(self, letter: DeadLetter) -> None:
        await self._run("share fate", lambda store: store.share_fate(letter))

    async def wait_for_deploy(self, letter: DeadLetter, seconds: float) -> None:
        await self._run("wait for deploy", lambda store: store.wait_for_deploy(letter, seconds))

    async def replayed(self, letter: DeadLetter) -> None:
        await self._run("replayed", lambda store: store.replayed(letter), letter.id)

    async def hear(self, notice: Notice) -> bool:
        return await self._run("hear", lambda store: store.hear(notice), notice.key, notice.news)

    # ── What has to be published

    async def outcomes_due(self) -> list[Settled]:
        return await self._run("outcomes due", lambda store: store.outcomes_due())

    async def outcome_told(self, row: Row) -> None:
        await self._run("outcome told", lambda store: store.outcome_told(row), row.key)

    async def news_due(self) -> list[NewsDue]:
        return await self._run("news due", lambda store: store.news_due())

    async def news_told(self, news_id: int) -> None:
        await self._run("news told", lambda store: store.news_told(news_id), news_id)

    # ── Upkeep

    async def stale(self, limit: int) -> list[Row]:
        await self._until(self._database.rows_go_stale)
        return await self._run("stale", lambda store: store.stale(limit))

    async def leave(self) -> None:
        pass

    # ── Leases: the real `Leases` chooses, its one statement is simulated

    def hold(self, lease: Lease) -> None:
        self._leases.hold(lease)
        self._held.set()

    def let_go(self, lease: Lease) -> None:
        self._leases.let_go(lease)
        if not len(self._leases):
            self._held.clear()

    async def renew_forever(self) -> None:
        """As `Leases.renew_forever`, but asleep while nothing is held."""
        while not self._closed.is_set():
            await self._held.wait()
            await self._leases.renew()
            await asyncio.sleep(renew_interval(self._lease) / 2)

    failing = False  # what `Leases` asks of its lane, which is this guard

    async def run_once(self, work: Callable[[Any], Any]) -> None:
        try:
            await work(SimpleNamespace(fetch=self._renew))
        except _NotAnsweredError:
            return

    async def _renew(
        self, _sql: str, interval: timedelta, *columns: Sequence[Any]
    ) -> list[dict[str, object]]:
        started = elapsed()
        terms = Terms(self.owner, interval.total_seconds(), started)
        held = [Lease(key, epoch, token, 1.0) for key, epoch, token in zip(*columns, strict=True)]

        def write(store: Any) -> list[dict[str, object]]:
            store.renew(held, terms)
            ours = (lease for lease in held if lease.ends_at > 0)
            return [{"token": lease.token, "epoch": lease.epoch} for lease in ours]

        renewed = await self._database.ask("renew", write, *columns[0])
        if renewed is LOST:  # not known: neither longer nor over, the next tick asks again
            raise _NotAnsweredError
        return cast("list[dict[str, object]]", renewed)

    # ── Asking

    def _terms(self) -> Terms:
        return Terms(self.owner, self._lease, elapsed())

    async def edition(self, digest: str) -> Any:
        return await self._run("edition", lambda _: self._database.editions.get(digest), digest)

    async def _run(self, what: str, statement: Callable[[Any], T], *about: object) -> T:
        tries = 0
        while not self._closed.is_set():
            asked = self._database.ask(what, statement, *about)
            self._waiting.add(asked)
            try:
                answer = await asked
            finally:
                self._waiting.discard(asked)
            if answer is not LOST:
                return cast("T", answer)
            await asyncio.sleep(self._database.pause(tries))
            tries += 1
        raise GuardClosedError

    async def _until(self, moment: Callable[[asyncio.Future[None]], None]) -> None:
        woken: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        moment(woken)
        self._waiting.add(woken)
        try:
            await woken
        finally:
            self._waiting.discard(woken)


class _NotAnsweredError(Exception):
    pass


def _at(record: Record) -> str:
    return f"{record.partition}/{record.offset}"
