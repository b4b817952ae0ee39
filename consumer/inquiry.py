"""An outcome that nobody knows, and one more step towards knowing it.

`evidence.next_step` says what; here it is done. Whatever is written names the epoch that the row
was read at, so that evidence which somebody else has overtaken changes nothing. No transaction is
open while a provider is asked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

import structlog

from consumer import evidence
from consumer.endings import Ended
from consumer.evidence import Ask, Case, Open, Repeat, SendAgain, SendAnew, Step, Wait
from consumer.hand import Departure, Doubt, InHand
from consumer.leave import prepared_with
from consumer.model import Bad, Evidence, MarkSent, OutcomeStatus, Prepared, Recorded
from consumer.providers.fetching import Unfetched
from consumer.providers.lookups import Absent, Found, Unasked

if TYPE_CHECKING:
    from consumer.endings import Ending
    from consumer.guard import Due, Guard
    from consumer.guard.parking import Age
    from consumer.line import Line
    from consumer.model import Message, Rejected, Row
    from consumer.providers import Sighting
    from consumer.routes import Route
    from consumer.takeoff import Takeoff

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Question:
    """An unknown row, what it is about, and whom to ask."""

    row: Row
    age: Age
    hand: InHand
    route: Route
    message: Message
    # None: its provider would not take it any more, or has files that are not needed so far.
    prepared: Prepared | None


@dataclass(frozen=True, slots=True)
class Inquiry:
    line: Line
    guard: Guard
    takeoff: Takeoff

    async def settle(self, row: Row, due: Due, hand: InHand) -> Ending | None:
        """Take the next step for an `unknown` row; None: nothing ended by it.

        What it settles is published from the row (`outcome_due`).
        """
        message = self.line.making.message(hand.mail)
        route = self.takeoff.pilot.routes.by_name.get(row.provider)
        if isinstance(message, Bad) or route is None or due.age is None:
            await self._nobody_to_ask(row, due)
            return None
        bare = not message.attachments
        known = _sealed(route.provider.prepare(message)) if bare else None
        question = Question(row, due.age, hand, route, message, known)
        case = self._case(question)
        return await self._act(evidence.next_step(route.means, case), question, case)

    async def _nobody_to_ask(self, row: Row, due: Due) -> None:
        """Its provider is not configured here, or the mail cannot be made any more."""
        late = due.age is None or due.age.doubt > evidence.LATER
        why = "its provider is not configured, or its mail cannot be rendered any more"
        await self.guard.put_off(row, None if late else evidence.LOOKS[2], "not asked", why)

    def _case(self, question: Question) -> Case:
        row, age, mail = question.row, question.age, question.hand.mail
        prepared, with_files = question.prepared, bool(question.message.attachments)
        # A replay of an `unknown` mail looks for evidence now, and lifts no rule. One that a person
        # had made again was asked for whatever its age.
        wanted = question.hand.replay and row.version > 1
        held_back = self.takeoff.pilot.rules.holds_back(mail, replay=wanted, claimed=True)
        return Case(
            on_unknown=mail.type.on_unknown,
            attempts_left=self.takeoff.pilot.retry.max_attempts - row.attempts,
            first_attempt_ago=age.first_attempt,
            deadline_ago=age.deadline,
            doubt_ago=age.doubt,
            same_account=question.route.provider.account == row.account,
            # Of one with files it is seen when it matters, which is before it is sent again.
            same_bytes=with_files if prepared is None else prepared.body_hash == row.body_hash,
            held_back=held_back is not None or (prepared is None and not with_files),
        )

    async def _act(self, step: Step, question: Question, case: Case) -> Ending | None:
        match step:
            case Repeat(within):
                until = question.age.read_at + within
                return await self._once_more(question, case, Evidence.REPEAT, until)
            case Ask():
                return await self._ask(question, case)
            case SendAnew():
                ending = await self.line.send(question.hand, question.row, clears_doubt=True)
                return _logged(ending, question.row.key, Evidence.ABSENCE)
            case Wait(seconds):
                await self.guard.put_off(question.row, seconds, "waiting", "for its webhook")
            case SendAgain():
                return await self._once_more(question, case, Evidence.POLICY)
            case Open():
                await self.guard.put_off(question.row, None, "open", "nothing is left to ask")
                log.warning("unknown", key=question.row.key, provider=question.row.provider)
            case _:
                assert_never(step)
        return None

    async def _once_more(
        self, question: Question, case: Case, by: Evidence, until: float = evidence.NEVER
    ) -> Ending | None:
        """One more attempt at the same provider: there is no failover in doubt."""
        if question.prepared is None:
            return await self._with_files(question, case)
        mail, look_in = question.hand.mail, evidence.look_again_in(case.doubt_ago)
        routes = self.takeoff.pilot.routes
        permit = await routes.permit_at(question.route, mail.type)
        if permit is None:
            stopped = routes.pauses.stops(mail.type.name, question.row.provider)
            why = "it is paused" if stopped else "its provider is shut"
            await self.guard.put_off(question.row, look_in, "waiting", why)
            return None
        departure = Departure(question.route, permit, question.prepared)
        doubt = Doubt(by, look_in, until)
        try:
            ending = await self.takeoff.once_more(question.hand, departure, question.row, doubt)
            return _logged(ending, question.row.key, by)
        finally:
            permit.give_back()  # whatever went wrong: an attempt that was made has ended it

    async def _with_files(self, question: Question, case: Case) -> Ending | None:
        """Fetch its files, and then look again at what is next: the bytes may not be the same."""
        assert question.message.attachments, "held back by its provider"
        files = await self.takeoff.pilot.fetcher.fetch(question.message.attachments)
        try:
            if isinstance(files, Unfetched):
                return await self._without_files(question, case, files.error)
            ready = _sealed(prepared_with(files, question.route.provider, question.message))
            return await self._go_on(
                replace(question, prepared=ready),
                replace(
                    case,
                    same_bytes=ready is not None and ready.body_hash == question.row.body_hash,
                    held_back=case.held_back or ready is None,
                ),
            )
        finally:
            files.give_back()

    async def _without_files(self, question: Question, case: Case, error: str) -> Ending | None:
        """They may be there later; files that never come must not hide the mail from a person."""
        if case.doubt_ago < evidence.ASK_PATIENCE:
            look_in = evidence.look_again_in(case.doubt_ago)
            await self.guard.put_off(question.row, look_in, "waiting", error)
            return None
        return await self._go_on(question, replace(case, held_back=True))

    async def _ask(self, question: Question, case: Case) -> Ending | None:
        row, asked = question.row, question.route.provider.lookup
        assert asked is not None, "asked for where it cannot be asked"
        sighting: Sighting = await asked.look_up(question.message)
        match sighting:
            case Found(provider_message_id):
                proof = MarkSent(row.provider, provider_message_id, Evidence.LOOKUP)
                if isinstance(await self.guard.prove(row.key, proof, "found when asked"), Recorded):
                    _log_settled(row.key, Evidence.LOOKUP, row.provider, provider_message_id)
                return None
            case Absent():
                return await self._absent(question, case, asked.visible_after)
            case Unasked(error):
                return await self._mute(question, case, asked.visible_after, error)
            case _:
                assert_never(sighting)

    async def _mute(
        self, question: Question, case: Case, visible_after: float, error: str
    ) -> Ending | None:
        """No answer says nothing; one that never comes must not hide the mail from a person."""
        if case.doubt_ago < visible_after + evidence.ASK_PATIENCE:
            look_in = evidence.look_again_in(case.doubt_ago)
            await self.guard.put_off(question.row, look_in, "asked", error)
            return None
        return await self._go_on(question, replace(case, mute=True), asked=True)

    async def _absent(self, question: Question, case: Case, visible_after: float) -> Ending | None:
        """Not there: which says something only if it would surely be there by now."""
        counts_in = evidence.absence_counts_in(visible_after, case)
        if counts_in > 0:
            look_in = min(counts_in, evidence.look_again_in(case.doubt_ago))
            await self.guard.put_off(question.row, look_in, "asked", "not found yet")
            return None
        return await self._go_on(question, replace(case, absent=True), asked=True)

    async def _go_on(self, question: Question, case: Case, *, asked: bool = False) -> Ending | None:
        step = evidence.next_step(question.route.means, case)
        assert not (asked and isinstance(step, Ask)), "asked a moment ago"
        return await self._act(step, question, case)


def _sealed(prepared: Prepared | Rejected) -> Prepared | None:
    return prepared if isinstance(prepared, Prepared) else None


def _logged(ending: Ending | None, key: str, by: Evidence) -> Ending | None:
    """A duplicate's end is another flight's: it was logged there."""
    outcome = ending.outcome if isinstance(ending, Ended) else None
    if outcome is not None and ending is not None and ending.result == OutcomeStatus.SENT:
        _log_settled(key, by, outcome.provider, outcome.provider_message_id)
    return ending


def _log_settled(key: str, by: Evidence, provider: str | None, message_id: str | None) -> None:
    """End the story that a search for the key finds in the log: its attempt ended in doubt."""
    log.info("settled", key=key, by=by, provider=provider, provider_message_id=message_id)
