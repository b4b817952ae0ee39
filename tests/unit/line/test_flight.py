"""A claimed mail in the air: an answer that was heard is written, whatever cuts its writing off."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from consumer.flight import Pilot
from consumer.guard.pauses import Pause, Scope, Target
from consumer.hand import Departure, InHand
from consumer.intake.hold import Hold
from consumer.model import Accepted, Answer, Lease, MarkSent, MarkWaiting, Recorded, Transition
from consumer.providers.wire import Wire
from consumer.retry import Retry
from consumer.routes import Routes


@dataclass
class Guard:
    """Its first write hangs; what it is asked to write is kept."""

    asked: list[Transition] = field(default_factory=list)
    hangs: asyncio.Event = field(default_factory=asyncio.Event)

    def hold(self, lease: Lease) -> None: ...

    def let_go(self, lease: Lease) -> None: ...

    async def record(self, _lease: Lease, transition: Transition, *_: object) -> Recorded:
        self.asked.append(transition)
        if len(self.asked) == 1:
            self.hangs.set()
            await asyncio.Event().wait()
        return Recorded()


class Anything:
    """Stands for what this law does not look at."""

    def __getattr__(self, _: str) -> Any:
        return Anything()

    def __call__(self, *_: object, **__: object) -> Any:
        return Anything()


class Provider(Anything):
    name = "p"

    async def attempt(self, *_: object) -> Answer:
        return Accepted("m-1")


class Permit(Anything):
    wire = Wire(1)


class Mail(Anything):
    timestamp = 0


async def test_an_acceptance_whose_write_is_cut_off_is_written_all_the_same() -> None:
    """Called "waiting", the row would be sent again (simulation, seed 990794937459)."""
    guard, any_ = Guard(), cast("Any", Anything())
    route = Anything()
    route.provider = Provider()  # type: ignore[attr-defined]  # it takes any
    pilot = Pilot(cast("Any", guard), Routes({}), any_, Retry(), any_)
    case = InHand(cast("Any", Mail()), cast("Any", Mail()), Hold())
    departure = Departure(cast("Any", route), cast("Any", Permit()), any_)
    flight = asyncio.create_task(pilot.fly(case, any_, departure, Lease("k", 1, "t", 9e9)))
    await guard.hangs.wait()
    flight.cancel()
    with pytest.raises(asyncio.CancelledError):
        await flight
    assert guard.asked == [MarkSent("p", "m-1")] * 2


async def test_what_is_stopped_between_claim_and_wire_is_certainly_not_sent() -> None:
    """Its attempt does not count, and the provider is not asked."""
    guard, any_ = Guard(), cast("Any", Anything())
    route = Anything()
    route.provider = any_  # type: ignore[attr-defined]  # whatever it is asked is no answer
    routes = Routes({})
    routes.pauses.take([Pause(Target(Scope.ALL), "ada", "x", datetime.now(UTC))])
    pilot = Pilot(cast("Any", guard), routes, any_, Retry(), any_)
    case = InHand(cast("Any", Mail()), cast("Any", Mail()), Hold())
    departure = Departure(cast("Any", route), cast("Any", Permit()), any_)
    flight = asyncio.create_task(pilot.fly(case, any_, departure, Lease("k", 1, "t", 9e9)))
    await guard.hangs.wait()
    flight.cancel()
    await asyncio.wait({flight})
    assert guard.asked[0] == MarkWaiting("not started in time", give_back=True)
