"""The straight line: one record from bytes to a durable outcome.

    record -> decode -> map -> look -> permit -> claim -> send -> record outcome -> (commit offset)

Its order is the correctness argument: nothing is sent that is not claimed, nothing is claimed that
may not go at once, and a record is finished only when its end stands in the database.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

import structlog

from consumer import endings
from consumer.courses import verdict
from consumer.editions import Editions
from consumer.endings import Ended, Ending, LetGo
from consumer.guard.errors import GuardClosedError
from consumer.guard.verdict import (
    Abandoned,
    AlsoParked,
    Conflict,
    Duplicate,
    KeyDrift,
    Redelivery,
    TakeOver,
    Verdict,
    Wait,
)
from consumer.hand import InHand
from consumer.model import (
    IMPORTED,
    Bad,
    Mail,
    Message,
    NeedsSchema,
    Reason,
    Skipped,
    SkipRule,
)

if TYPE_CHECKING:
    from consumer.guard import Guard
    from consumer.intake.hold import Hold
    from consumer.model import Record, Row
    from consumer.reading import Reading
    from consumer.takeoff import Takeoff
    from consumer.telemetry.tracing import Tracing

log = structlog.get_logger(__name__)

# How often a row that another worker holds is looked at again.
LOOK_AGAIN = 0.5


class Line:
    """Walks records. Everything it needs to know about the world is handed to it."""

    def __init__(
        self,
        reading: Reading,
        guard: Guard,
        takeoff: Takeoff,
        tracing: Tracing,
    ) -> None:
        self.reading = reading
        self.making = reading.making
        self.editions = Editions(reading.making, guard.shelf.edition)
        self._guard = guard
        self._takeoff = takeoff
        self._aside = takeoff.aside
        self._flights = takeoff.flights
        self._max_attempts = takeoff.pilot.retry.max_attempts
        self._metrics = takeoff.pilot.metrics
        self._tracing = tracing

    async def handle(
        self, record: Record, hold: Hold, *, parked: bool = False, replay: bool = False
    ) -> Ending:
        """Walk one record to its end, or until it is called back.

        `parked`: it comes from its letter. `replay`: a person asked for it; what failed before is
        tried again, whatever its age.
        """
        with self._tracing.span(record):
            try:
                ending = await self._walk(record, hold, parked=parked, replay=replay)
            except GuardClosedError:
                ending = LetGo()  # the service is stopping, and Postgres is away
            except asyncio.CancelledError:
                if not hold.recalled:
                    raise
                ending = LetGo()
            self._metrics.record_ended(record, ending)
            self._tracing.ended(result=ending.result)
        return ending

    async def _walk(self, record: Record, hold: Hold, *, parked: bool, replay: bool) -> Ending:
        mail = self.making.read(record)
        if isinstance(mail, NeedsSchema):
            with hold.standing():
                mail = await self.reading.read(record)
        if not parked:
            self._aside.fuses.see(record.topic)
        match mail:
            case Skipped():
                return _skip(record, mail)
            case Bad():
                return await self._aside.park(record, mail, hold, fresh=not parked)
            case Mail():
                async with self._flights.only(mail.key):
                    case = InHand(mail, record, hold, replay, parked)
                    return await self._send_once(case)
            case _:
                assert_never(mail)

    async def go_on(self, case: InHand, judged: Row) -> Ending:
        """Take a parked row up again, as it was judged: the resolver's way onto the line.

        One that somebody else took up meanwhile may have failed since, and nobody judged that.
        """
        async with self._flights.only(case.mail.key):
            row = await self._look(case)
            if row is None or (row.epoch, row.status) != (judged.epoch, judged.status):
                return LetGo()
            return await self.send(case, row) or LetGo()

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
            return await self.send(case, None)
        found = await self._judged(row, case)
        match found:
            case TakeOver():
                return await self.send(await self._as_claimed(case, row), row)
            case Wait():
                await asyncio.sleep(LOOK_AGAIN)
                return None
            case Abandoned():
                return await self._aside.abandon(row, case)
            case Redelivery() | Duplicate():
                duplicate = isinstance(found, Duplicate)
                return endings.stored(case.record, case.mail, row, duplicate=duplicate)
            case Conflict():
                return await self._aside.refuse(Reason.CONFLICT, row, case)
            case KeyDrift():
                return await self._aside.refuse(Reason.KEY_DRIFT, row, case)
            case AlsoParked():
                return await self._aside.park_too(row, case)
            case _:
                assert_never(found)

    async def _judged(self, row: Row, case: InHand) -> Verdict:
        at, mail, most = case.record.coordinates, case.mail, self._max_attempts
        comparable = await self.editions.comparable(row, mail)
        found = verdict(row, mail, at, most, comparable=comparable, replay=case.replay)
        apart = not comparable and row.fingerprint != mail.fingerprint
        if apart and isinstance(found, Duplicate) and row.catalogue != IMPORTED:
            self._metrics.incomparable.inc()
        return found

    async def _as_claimed(self, case: InHand, row: Row) -> InHand:
        """Go on with an open row's mail as it was made first, whatever was deployed since."""
        mail = await self.editions.as_claimed(case.mail, row, case.record)
        return replace(case, mail=mail) if isinstance(mail, Mail) else case

    async def send(
        self, case: InHand, takes: Row | None, *, clears_doubt: bool = False
    ) -> Ending | None:
        """Send what the rules let go and what can be rendered; None: look at the row again."""
        ready = self.making.ready(case.mail, replay=case.replay, claimed=takes is not None)
        match ready:
            case SkipRule() if takes is not None:
                return await self._aside.expire(takes, ready, case, self._flights.token())
            case SkipRule():
                return _skip(case.record, Skipped(ready, case.mail.type.name), case.mail)
            case Bad():
                return await self._aside.park(case.record, ready, case.hold, fresh=not case.parked)
            case Message():
                return await self._takeoff.depart(case, ready, takes, clears_doubt=clears_doubt)
            case _:
                assert_never(ready)


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
