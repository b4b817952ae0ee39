"""The straight line: one record from bytes to a durable outcome.

    record -> decode -> map -> look -> permit -> claim -> send -> record outcome -> (commit offset)

Its order is the correctness argument: nothing is sent that is not claimed, nothing is claimed that
may not go at once, and a record is finished only when its end stands in the database.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, assert_never

import structlog

from consumer import endings
from consumer.aside import Aside
from consumer.endings import Ended, Ending, LetGo
from consumer.events import decode
from consumer.flight import Departure, InHand, Landed, Landing, Overtaken, Pilot
from consumer.guard.errors import GuardClosed
from consumer.guard.verdict import (
    Abandoned,
    AlsoParked,
    Conflict,
    Duplicate,
    KeyDrift,
    Redelivery,
    TakeOver,
    Wait,
    judge,
)
from consumer.model import (
    Bad,
    Claim,
    Event,
    Found,
    Granted,
    Mail,
    Reason,
    Rejected,
    Skipped,
    SkipRule,
    Status,
)

if TYPE_CHECKING:
    from consumer.catalogue import Catalogue
    from consumer.flights import Flights
    from consumer.guard import Guard
    from consumer.intake.hold import Hold
    from consumer.model import Lease, Message, Record, Row
    from consumer.telemetry import Metrics
    from consumer.telemetry.tracing import Tracing

log = structlog.get_logger(__name__)

# How often a row that another worker holds is looked at again.
LOOK_AGAIN = 0.5


class Line:
    """Walks records. Everything it needs to know about the world is handed to it."""

    def __init__(
        self,
        catalogue: Catalogue,
        guard: Guard,
        pilot: Pilot,
        flights: Flights,
        metrics: Metrics,
        tracing: Tracing,
    ) -> None:
        self._catalogue = catalogue
        self._guard = guard
        self._aside = Aside(guard)
        self._pilot = pilot
        self._flights = flights
        self._metrics = metrics
        self._tracing = tracing

    async def handle(self, record: Record, hold: Hold) -> Ending:
        """Walk one record to its end, or until it is called back."""
        with self._tracing.span(record):
            try:
                ending = await self._walk(record, hold)
            except GuardClosed:
                ending = LetGo()  # the service is stopping, and Postgres is away
            except asyncio.CancelledError:
                if not hold.recalled:
                    raise
                ending = LetGo()
            self._metrics.record_ended(record, ending)
            self._tracing.ended(result=ending.result)
        return ending

    async def _walk(self, record: Record, hold: Hold) -> Ending:
        mail = self.read(record)
        match mail:
            case Skipped():
                return _skip(record, mail)
            case Bad():
                return await self._aside.park(record, mail, hold)
            case Mail():
                async with self._flights.only(mail.key):
                    return await self._send_once(InHand(mail, record, hold))
            case _:
                assert_never(mail)

    def read(self, record: Record) -> Mail | Skipped | Bad:
        """Decode and map; pure. A bug met on one record must not stop its neighbours."""
        try:
            event = decode(record)
            return self._catalogue.read(record, event) if isinstance(event, Event) else event
        except Exception as bug:  # noqa: BLE001 - any bug in pure code is this record's dead letter
            return Bad(Reason.INVALID, f"a defect of the service: {type(bug).__name__}")

    async def next_round(self, record: Record, hold: Hold) -> Ending:
        """Walk a parked record again, from its row: the resolver's way onto the line."""
        mail = self.read(record)
        if not isinstance(mail, Mail):
            return LetGo()  # a deploy no longer reads it as a mail; it stays parked, and is shown
        case = InHand(mail, record, hold)
        async with self._flights.only(mail.key):
            row = await self._look(case)
            if row is None or not self._round_is_used_up(row) or row.lease_live:
                return LetGo()
            return await self._send(case, row) or LetGo()

    def _round_is_used_up(self, row: Row) -> bool:
        return row.status is Status.WAITING and row.attempts >= self._pilot.retry.max_attempts

    async def _look(self, case: InHand) -> Row | None:
        mail = case.mail
        return await self._guard.look(mail.key, mail.type.name, case.record.coordinates)

    async def _send_once(self, case: InHand) -> Ending:
        """Look before each step: somebody may have been faster since the last look."""
        while True:
            row = await self._look(case)
            ending = await self._act_on(row, case)
            if ending is not None:
                return ending

    async def _act_on(self, row: Row | None, case: InHand) -> Ending | None:
        """Do what the row that stands there asks for; None: look again."""
        if row is None:
            return await self._send(case, None)
        verdict = judge(row, case.mail, case.record.coordinates, self._pilot.retry.max_attempts)
        match verdict:
            case TakeOver():
                return await self._send(case, row)
            case Wait():
                await asyncio.sleep(LOOK_AGAIN)
                return None
            case Abandoned():
                return await self._aside.abandon(row, case)
            case Redelivery():
                return endings.stored(case.record, case.mail, row, duplicate=False)
            case Duplicate():
                return endings.stored(case.record, case.mail, row, duplicate=True)
            case Conflict():
                return await self._aside.refuse(Reason.CONFLICT, row, case)
            case KeyDrift():
                return await self._aside.refuse(Reason.KEY_DRIFT, row, case)
            case AlsoParked():
                return await self._aside.park_too(row, case)
            case _:
                assert_never(verdict)

    async def _send(self, case: InHand, takes: Row | None) -> Ending | None:
        """Ask the rules, then render; a failing template is this record's own trouble."""
        rule = self._pilot.rules.holds_back(case.mail)
        if rule is not None and takes is not None:
            return await self._aside.expire(takes, rule, case, self._flights.token())
        if rule is not None:
            return _skip(case.record, Skipped(rule, case.mail.type.name), case.mail)
        message = self._catalogue.render(case.mail)
        if isinstance(message, Bad):
            return await self._aside.park(case.record, message, case.hold)
        return await self._depart(case, self._pilot.rules.addressed(message), takes)

    async def _depart(self, case: InHand, message: Message, takes: Row | None) -> Ending | None:
        """Get leave, then claim, so that claimed means in flight; then fly."""
        route, permit = await self._pilot.routes.permit(case.mail.type)
        prepared = route.provider.prepare(message)
        if isinstance(prepared, Rejected):
            permit.give_back()
            return await self._aside.reject(prepared, case)
        if self._pilot.rules.holds_back(case.mail):
            permit.give_back()  # too old by now: the rule decides, with a fresh look at the row
            return None
        departure = Departure(route, permit, prepared)
        lease = await self._claim(departure, case, takes)
        if lease is None:
            return None
        landing = await self._pilot.fly(case, message, departure, lease)
        return self._landed(landing, case)

    async def _claim(self, departure: Departure, case: InHand, takes: Row | None) -> Lease | None:
        provider = departure.route.provider
        claim = Claim(
            case.mail,
            case.record,
            self._flights.token(),
            provider.name,
            provider.account,
            departure.prepared.body_hash,
            takes,
        )
        new_round = takes is not None and self._round_is_used_up(takes)
        ask = self._guard.start_round if new_round else self._guard.claim
        with case.hold.fixed():
            result = await ask(claim)
        match result:
            case Granted(lease):
                self._metrics.claim("granted")
                return lease
            case Found():
                self._metrics.claim("found")
                departure.permit.give_back()
                return None
            case _:
                assert_never(result)

    def _landed(self, landing: Landing, case: InHand) -> Ending | None:
        match landing:
            case Landed(transition, recorded, provider):
                return endings.landed(
                    case.record, case.mail, transition, provider, recorded.sent_at
                )
            case Overtaken():
                self._metrics.fenced.inc()
                return None
            case _:
                assert_never(landing)


def _skip(record: Record, skip: Skipped, mail: Mail | None = None) -> Ended:
    tell = log.debug if skip.rule is SkipRule.IGNORED else log.info  # a busy topic is no news
    tell(
        "skipped",
        rule=skip.rule,
        mail_type=skip.event_type,
        key=mail.key if mail else None,
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
    )
    return endings.skipped(record, skip, mail)
