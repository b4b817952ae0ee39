"""A claimed mail in the air: attempts, one at a time, until the guard row holds an outcome.

    claimed ─▶ attempt ─▶ answer ─▶ transition recorded ─▶ landed
                  ▲                        │ waiting
                  └── leave ◀── backoff ◀──┘

Nothing fallible stands between a provider's answer and the write of its outcome. An attempt without
its files certainly did not send: it counts, and says nothing about the provider.
"""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, assert_never

import structlog

from consumer.hand import Departure, Landed, Landing, Overtaken
from consumer.leave import Leave, Leaves
from consumer.model import (
    Answer,
    Fenced,
    Lease,
    MarkExpired,
    MarkFailed,
    MarkWaiting,
    Message,
    Reason,
    Recorded,
    Rejected,
    TooLate,
    Transient,
    Transition,
)
from consumer.providers.fetching import Fetcher
from consumer.rounds import Standing, after, after_in_doubt

if TYPE_CHECKING:
    from consumer.guard import Guard
    from consumer.hand import Doubt, InHand
    from consumer.retry import Retry
    from consumer.routes import Route, Routes
    from consumer.rules import Rules
    from consumer.telemetry import Metrics

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Pilot:
    """Flies claimed mails. Shared by the line and the resolver."""

    guard: Guard
    routes: Routes
    rules: Rules
    retry: Retry
    metrics: Metrics
    fetcher: Fetcher = field(default_factory=Fetcher)
    leaves: Leaves = field(init=False)

    def __post_init__(self) -> None:
        self.leaves = Leaves(self.routes, self.fetcher)

    async def fly(
        self,
        case: InHand,
        message: Message,
        departure: Departure,
        lease: Lease,
        doubt: Doubt | None = None,
    ) -> Landing:
        """Attempt until an outcome stands; called back while waiting, give the row back."""
        flight = _Flight(self, case, message, lease, doubt)
        self.guard.hold(lease)
        try:
            return await flight.attempts(departure)
        except asyncio.CancelledError:
            await flight.release()
            raise
        finally:
            self.guard.let_go(lease)


@dataclass(slots=True)
class _Flight:
    pilot: Pilot
    case: InHand
    message: Message
    lease: Lease
    doubt: Doubt | None
    unanswered: bool = True  # an attempt is counted on the row and has no answer yet
    unwritten: Transition | None = None  # what an answer came to, until it surely stands
    number: int = 0  # of the last attempt, in its round
    took: float = 0.0  # seconds, the last attempt

    async def attempts(self, departure: Departure) -> Landing:
        while True:
            answer = await self._attempt(departure)
            self.unwritten = transition = self._decide(answer, departure)
            result = await self._record(transition)
            self.unwritten = None
            self._mark(transition, departure)
            self._tell(departure, answer)
            if isinstance(result, Fenced):
                return Overtaken()
            if not isinstance(transition, MarkWaiting):
                return Landed(transition, result, departure.route.provider.name)
            if self.case.hold.recalled:
                raise asyncio.CancelledError
            again = await self._again(answer, departure)
            if not isinstance(again, Departure):
                return again
            departure = again

    async def release(self) -> None:
        """Called back: end the lease at once, so that whoever comes next need not wait for it.

        But an answer that was heard is written, whoever cut its writing off: it may have been
        "accepted".
        """
        called_back = MarkWaiting("called back", give_back=self.unanswered, release=True)
        await self._record(self.unwritten or called_back)

    async def _attempt(self, departure: Departure) -> Answer:
        """One request: wait for a slot on the wire, send, tell the breaker."""
        try:
            with self.case.hold.kept():
                async with departure.permit.wire:
                    began = time.perf_counter()
                    answer = await self._answer(departure)
        except asyncio.CancelledError:
            departure.give_back()  # called back while it waited for the wire
            raise
        self.unanswered = False
        self.took, self.number = time.perf_counter() - began, self.lease.attempts
        departure.over(answer)
        return answer

    async def _answer(self, departure: Departure) -> Answer:
        """The last step before the wire: what a person stops, stops here."""
        provider, mail_type = departure.route.provider, self.case.mail.type
        if self.pilot.routes.pauses.stops(mail_type.name, provider.name):
            return TooLate()
        if departure.unfetched is not None:
            return Transient(departure.unfetched)
        age = time.time() - self.case.record.timestamp / 1000
        self.pilot.metrics.append_to_attempt(mail_type.name, age)
        until = math.inf if self.doubt is None else self.doubt.until
        return await provider.attempt(departure.prepared, self.lease, until)

    def _tell(self, departure: Departure, answer: Answer) -> None:
        """Count and log, after the outcome stands: nothing that may fail comes before it."""
        provider = departure.route.provider.name
        if departure.unfetched is None:  # else there was no request
            self.pilot.metrics.attempt(provider, answer, self.took)
        log.info(
            "attempt",
            key=self.lease.key,
            mail_type=self.case.mail.type.name,
            provider=provider,
            attempt=self.number,
            answer=type(answer).__name__,
            error=getattr(answer, "error", None),
            ms=round(self.took * 1000, 1),
        )

    def _decide(self, answer: Answer, departure: Departure) -> Transition:
        provider, doubt = departure.route.provider.name, self.doubt
        if doubt is not None:
            now = self._standing(departure)
            outage = now.breaker_open or now.probe
            return after_in_doubt(answer, provider, doubt.by, doubt.look_in, outage=outage)
        standing = partial(self._standing, departure)
        transition = after(answer, provider, standing, self.pilot.retry.max_attempts)
        sender = self.case.mail.type.sender
        told = self.pilot.routes.fuses.hear(provider, sender, answer)
        return transition if told is None else MarkFailed(told, Reason.FUSED)

    def _mark(self, transition: Transition, departure: Departure) -> None:
        """The letter that tells of a blown fuse stands by now; while it does, the fuse is out."""
        if isinstance(transition, MarkFailed) and transition.reason is Reason.FUSED:
            way = departure.route.provider.name, self.case.mail.type.sender
            self.pilot.routes.fuses.mark_way(*way, self.case.record.coordinates)

    def _standing(self, departure: Departure) -> Standing:
        return Standing(
            attempts=self.lease.attempts,
            round=self.lease.round,
            expires_in=self.pilot.rules.expires_in(self.case.mail),
            breaker_open=departure.found_shut(self.case.mail.type.sender),
            probe=departure.probed,
        )

    async def _record(self, transition: Transition) -> Recorded | Fenced:
        with self.case.hold.fixed():
            return await self.pilot.guard.record(
                self.lease, transition, self.case.mail, self.case.record
            )

    async def _again(self, answer: Answer, before: Departure) -> Departure | Landing:
        """Back off, get leave again, and count the next attempt on the row before it starts."""
        await asyncio.sleep(self.pilot.retry.pause(answer, self.lease.attempts))
        place = self.case.mail.type.providers.index(before.route.provider.name)
        if isinstance(answer, Transient) and before.unfetched is None:
            place += 1  # failover: certainly not sent, so the next provider may try
        case = self.case
        leave = await self.pilot.leaves.take(case.mail.type, self.message, case.hold, place)
        again = None
        try:
            again = await self._departure(leave)
        finally:
            if not isinstance(again, Departure):
                leave.give_back()
        return again

    async def _departure(self, leave: Leave) -> Departure | Landing:
        case = self.case
        held_back = self.pilot.rules.holds_back(case.mail, replay=case.replay, claimed=True)
        if held_back is not None:
            return await self._end(MarkExpired(f"held back: {held_back}"), leave.route)
        departure = leave.departure(self.message)
        match departure:
            case Departure():
                return await self._count(departure)
            case Rejected(error):
                return await self._end(MarkFailed(error, Reason.REJECTED), leave.route)
            case _:
                assert_never(departure)

    async def _count(self, departure: Departure) -> Departure | Landing:
        provider = departure.route.provider
        with self.case.hold.fixed():
            counted = await self.pilot.guard.next_attempt(
                self.lease, provider.name, provider.account, departure.prepared.body_hash
            )
        if isinstance(counted, Fenced):
            return Overtaken()
        self.unanswered = True
        return departure

    async def _end(self, transition: Transition, route: Route) -> Landing:
        result = await self._record(transition)
        if isinstance(result, Fenced):
            return Overtaken()
        return Landed(transition, result, route.provider.name)
