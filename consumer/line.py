"""The straight line: one record from bytes to a durable outcome.

    record -> decode -> map -> look -> permit -> claim -> send -> record outcome -> (commit offset)

Its order is the correctness argument: nothing is sent that is not claimed, nothing is claimed that
may not go at once, nothing is decided against a record before the guard was asked about its key,
and a record is finished only when its end stands in the database.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, assert_never

import structlog

from consumer import endings
from consumer.endings import Ended, Ending, LetGo
from consumer.events import decode
from consumer.flight import Departure, InHand, Landed, Landing, Overtaken, Pilot
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
    Fenced,
    Found,
    Granted,
    Mail,
    MarkExpired,
    MarkUnknown,
    Reason,
    Rejected,
    Skipped,
)

if TYPE_CHECKING:
    from consumer.catalogue import Catalogue
    from consumer.flights import Flights
    from consumer.guard import Guard
    from consumer.intake.hold import Hold
    from consumer.model import Lease, Message, Record, Row, SkipRule
    from consumer.telemetry import Metrics

log = structlog.get_logger(__name__)

# How often a row that another worker holds is looked at again.
LOOK_AGAIN = 0.5


class Line:
    """Walks records. Everything it needs to know about the world is handed to it."""

    def __init__(
        self, catalogue: Catalogue, guard: Guard, pilot: Pilot, flights: Flights, metrics: Metrics
    ) -> None:
        self._catalogue = catalogue
        self._guard = guard
        self._pilot = pilot
        self._flights = flights
        self._metrics = metrics

    async def handle(self, record: Record, hold: Hold) -> Ending:
        """Walk one record to its end, or until it is called back."""
        try:
            ending = await self._walk(record, hold)
        except asyncio.CancelledError:
            if not hold.recalled:
                raise
            ending = LetGo()
        self._metrics.record_ended(record, ending)
        return ending

    async def _walk(self, record: Record, hold: Hold) -> Ending:
        mail = self.read(record)
        match mail:
            case Skipped():
                return endings.skipped(record, mail)
            case Bad():
                return await self._park(record, mail, hold)
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

    async def _send_once(self, case: InHand) -> Ending:
        """Look before each step: somebody may have been faster since the last look."""
        while True:
            row = await self._guard.look(
                case.mail.key, case.mail.type.name, case.record.coordinates
            )
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
                return await self._abandon(row, case)
            case Redelivery():
                return endings.stored(case.record, case.mail, row, duplicate=False)
            case Duplicate():
                return endings.stored(case.record, case.mail, row, duplicate=True)
            case Conflict():
                return await self._refuse(Reason.CONFLICT, row, case)
            case KeyDrift():
                return await self._refuse(Reason.KEY_DRIFT, row, case)
            case AlsoParked():
                return await self._park_too(row, case)
            case _:
                assert_never(verdict)

    async def _send(self, case: InHand, takes: Row | None) -> Ending | None:
        """Ask the rules, then render; a failing template is this record's own trouble."""
        rule = self._pilot.rules.holds_back(case.mail)
        if rule is not None and takes is not None:
            return await self._expire(takes, rule, case)
        if rule is not None:
            return endings.skipped(case.record, Skipped(rule, case.mail.type.name), case.mail)
        message = self._catalogue.render(case.mail)
        if isinstance(message, Bad):
            return await self._park(case.record, message, case.hold)
        return await self._depart(case, self._pilot.rules.addressed(message), takes)

    async def _depart(self, case: InHand, message: Message, takes: Row | None) -> Ending | None:
        """Get leave, then claim, so that claimed means in flight; then fly."""
        route, permit = await self._pilot.routes.permit(case.mail.type)
        prepared = route.provider.prepare(message)
        if isinstance(prepared, Rejected):
            permit.give_back()
            return await self._park(case.record, _rejected(prepared, case.mail), case.hold)
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
        with case.hold.fixed():
            result = await self._guard.claim(claim)
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

    async def _expire(self, row: Row, rule: SkipRule, case: InHand) -> Ending | None:
        """An open row that got too old: taken over only to be ended, without an attempt."""
        with case.hold.fixed():
            result = await self._guard.expire(row, case.mail, case.record, f"held back: {rule}")
        if isinstance(result, Fenced):
            return None
        return endings.landed(
            case.record, case.mail, MarkExpired(f"held back: {rule}"), row.provider, None
        )

    async def _abandon(self, row: Row, case: InHand) -> Ending | None:
        """Whoever was sending is gone, and nobody knows how far it came."""
        with case.hold.fixed():
            result = await self._guard.abandon(row, case.mail, case.record)
        if isinstance(result, Fenced):
            return None
        unknown = MarkUnknown("the sending worker is gone", row.provider)
        return endings.landed(case.record, case.mail, unknown, row.provider, None)

    async def _park(self, record: Record, bad: Bad, hold: Hold) -> Ended:
        with hold.fixed():
            await self._guard.park(record, bad)
        log.warning(
            "dead letter",
            reason=bad.reason,
            detail=bad.detail,
            key=bad.idempotency_key,
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
        )
        return endings.dead_letter(record, bad)

    async def _refuse(self, reason: Reason, row: Row, case: InHand) -> Ended:
        """Same key, other content; or same record, other key. Never sent, never overwritten."""
        detail = f"{reason}: row {row.key} is {row.status}"
        bad = Bad(reason, detail, case.mail.type.name, case.mail.key)
        return await self._park(case.record, bad, case.hold)

    async def _park_too(self, row: Row, case: InHand) -> Ended:
        """This record shares the fate of a row that is not settled yet."""
        if row.coordinates != case.record.coordinates:
            with case.hold.fixed():
                await self._guard.park_too(case.record, case.mail, row)
        return endings.stored(case.record, case.mail, row, duplicate=False)


def _rejected(prepared: Rejected, mail: Mail) -> Bad:
    return Bad(Reason.REJECTED, prepared.error, mail.type.name, mail.key)
