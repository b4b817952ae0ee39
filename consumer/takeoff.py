"""From leave to landing: the way out, the claim, the flight.

    leave ─▶ bytes ─▶ claim ─▶ flight ─▶ ending

Leave (a permit, and the mail's files) comes before the claim, so that claimed means in flight. What
gets no row gives it back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from consumer import endings
from consumer.aside import Aside
from consumer.endings import LetGo
from consumer.hand import Landed, Landing, Overtaken
from consumer.model import Claim, Found, Granted, Rejected, Status

if TYPE_CHECKING:
    from consumer.endings import Ending
    from consumer.flight import Pilot
    from consumer.flights import Flights
    from consumer.hand import Departure, Doubt, InHand
    from consumer.leave import Leave
    from consumer.model import Lease, Message, Row


@dataclass(frozen=True, slots=True)
class Takeoff:
    """Starts flights, for the line and for the resolver. None: look at the row again."""

    pilot: Pilot
    aside: Aside
    flights: Flights

    async def depart(
        self, case: InHand, message: Message, takes: Row | None, *, clears_doubt: bool = False
    ) -> Ending | None:
        """Get leave, claim, fly; `takes`: the row to take over, certainly not sent by now."""
        leave = await self._leave(case, message)
        if leave is None:
            return LetGo()
        try:
            departure = leave.departure(message)
            if isinstance(departure, Rejected):
                leave.give_back()
                return await self.aside.reject(departure, case)
            claimed = takes is not None
            if self.pilot.rules.holds_back(case.mail, replay=case.replay, claimed=claimed):
                return None  # too old by now: the rule decides, with a fresh look at the row
            lease = await self._claim(departure, case, takes, clears_doubt=clears_doubt)
            return None if lease is None else await self._fly(case, message, departure, lease)
        finally:
            leave.give_back()  # whatever went wrong: an attempt that was made has ended it

    async def _leave(self, case: InHand, message: Message) -> Leave | None:
        """Wait for leave; None: shut, or stopped, and the mail comes again by itself."""
        leaves, mail_type = self.pilot.leaves, case.mail.type
        take = leaves.take_unless_shut if case.parked else leaves.take
        return await take(mail_type, message, case.hold)

    async def once_more(
        self, case: InHand, departure: Departure, takes: Row, doubt: Doubt
    ) -> Ending | None:
        """Take over an `unknown` row for one attempt, while the doubt about the first stands."""
        lease = await self._claim(departure, case, takes)
        if lease is None:
            return None
        return await self._fly(case, departure.prepared.message, departure, lease, doubt)

    async def _fly(
        self,
        case: InHand,
        message: Message,
        departure: Departure,
        lease: Lease,
        doubt: Doubt | None = None,
    ) -> Ending | None:
        landing = await self.pilot.fly(case, message, departure, lease, doubt)
        return self._landed(landing, case)

    async def _claim(
        self, departure: Departure, case: InHand, takes: Row | None, *, clears_doubt: bool = False
    ) -> Lease | None:
        provider = departure.route.provider
        claim = Claim(
            case.mail,
            case.record,
            self.flights.token(),
            provider.name,
            provider.account,
            departure.prepared.body_hash,
            takes,
            clears_doubt,
            late=case.parked,
        )
        guard = self.pilot.guard
        ask = guard.start_round if takes is not None and self._is_used_up(takes) else guard.claim
        with case.hold.fixed():
            result = await ask(claim)
        match result:
            case Granted(lease):
                self.pilot.metrics.claim("granted")
                return lease
            case Found():
                self.pilot.metrics.claim("found")
                return None
            case _:
                assert_never(result)

    def _is_used_up(self, row: Row) -> bool:
        return row.status is Status.WAITING and row.attempts >= self.pilot.retry.max_attempts

    def _landed(self, landing: Landing, case: InHand) -> Ending | None:
        match landing:
            case Landed(transition, recorded, provider):
                return endings.landed(
                    case.record, case.mail, transition, provider, recorded.sent_at
                )
            case Overtaken():
                self.pilot.metrics.fenced.inc()
                return None
            case _:
                assert_never(landing)
