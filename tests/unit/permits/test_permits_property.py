"""Whatever is taken, cancelled, given back and answered: the counters are exact."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from consumer.model import (
    Accepted,
    Answer,
    Blocked,
    Refused,
    Rejected,
    Scope,
    SlowDown,
    TooLate,
    Transient,
    Unclear,
)
from consumer.providers import permits as module
from consumer.providers.permits import Permit, Permits
from tests.unit.permits.clock import StandingClock

SENDERS = ("shop", "accounts")
ANSWERS: tuple[Answer, ...] = (
    Accepted("id"),
    Refused("406"),
    Rejected("300"),
    Transient("503"),
    Unclear("timeout"),
    SlowDown("429", 2),
    TooLate(),
    Blocked("401"),
    Blocked("400", Scope.SENDER),
)

steps = st.one_of(
    st.tuples(st.just("take"), st.integers(0, 7)),
    st.tuples(st.just("cancel"), st.integers(0, 50)),
    st.tuples(st.just("give_back"), st.integers(0, 50)),
    st.tuples(st.just("done"), st.integers(0, 50), st.sampled_from(ANSWERS)),
    st.tuples(st.just("wait"), st.floats(0, 12)),
    st.tuples(st.just("turn"), st.just(0)),
    st.tuples(st.just("share"), st.integers(1, 5)),
    st.tuples(st.just("renew"), st.just(0)),
)


@dataclass
class Play:
    """Random hands on one `Permits` with three permits, of which one is kept for high."""

    permits: Permits
    clock: StandingClock
    waiting: list[asyncio.Task[Permit | None]] = field(default_factory=list)
    held: list[Permit] = field(default_factory=list)

    async def step(self, step: tuple[object, ...]) -> None:
        match step:
            case ("take", int(how)):
                self.take(how)
            case ("cancel", int(which)) if self.waiting:
                self.waiting[which % len(self.waiting)].cancel()
            case ("give_back", int(which)) if self.held:
                self.held.pop(which % len(self.held)).give_back()
            case ("done", int(which), answer) if self.held:
                self.held.pop(which % len(self.held)).done(answer)  # type: ignore[arg-type]  # one of ANSWERS
            case ("wait", float(seconds)):
                self.clock.advance(seconds)
            case ("share", int(workers)):
                self.permits.share(workers)
            case ("renew", _):
                self.permits.renew()
            case _:
                await self.turn()

    def take(self, how: int) -> None:
        sender, high = SENDERS[how % 2], how % 4 >= 2
        if how >= 4:
            self.waiting.append(asyncio.create_task(self.permits.take(sender, high=high)))
        else:
            impatient = self.permits.take_unless_shut(sender, high=high)
            self.waiting.append(asyncio.create_task(impatient))

    async def turn(self) -> None:
        for _ in range(4):
            await asyncio.sleep(0)
        done = [task for task in self.waiting if task.done()]
        self.waiting = [task for task in self.waiting if not task.done()]
        taken = [task.result() for task in done if not task.cancelled()]
        self.held += [permit for permit in taken if permit is not None]

    def check(self) -> None:
        now = self.permits.snapshot()
        assert now.out == len(self.held) <= 3
        assert now.out_high == sum(permit.high for permit in self.held)
        assert now.out - now.out_high <= 2
        assert now.waiting == len(self.waiting)
        assert sum(permit.probe for permit in self.held) <= 3


async def play(rate: float | None, script: list[tuple[object, ...]]) -> None:
    clock = StandingClock()
    permits = Permits("postmark", concurrency=3 - module.AHEAD, rate=rate, clock=clock)
    hands = Play(permits, clock)
    for step in script:
        await hands.step(step)
    await hands.turn()
    hands.check()
    await all_come_through(hands)


async def all_come_through(hands: Play) -> None:
    """Once the provider is well again every waiter gets its turn, and nothing is left."""
    for _ in range(400):
        if not (hands.waiting or hands.held):
            break
        while hands.held:
            hands.held.pop().done(Accepted("id"))
        await hands.turn()
        hands.clock.advance(5)
        await hands.turn()
    now = hands.permits.snapshot()
    assert (now.out, now.out_high, now.waiting, hands.clock.armed) == (0, 0, 0, 0)


@settings(max_examples=settings().max_examples * 3 // 2, deadline=None)
@given(rate=st.none() | st.floats(0.5, 50), script=st.lists(steps, max_size=60))
def test_counters_stay_exact_and_every_waiter_gets_its_turn(
    rate: float | None, script: list[tuple[object, ...]]
) -> None:
    asyncio.run(play(rate, script))
