"""Each permit has its place, in the order of asking, high before ordinary, and ends once."""

from __future__ import annotations

from consumer.model import Blocked
from consumer.providers.permits import AHEAD, Permits
from tests.unit.permits.clock import StandingClock
from tests.unit.permits.waiting import OK, begun, permits_of, settled, take_all, woken


async def test_there_are_more_permits_than_places_on_the_wire(clock: StandingClock) -> None:
    assert len(take_all(permits_of(clock), high=True)) == 36 + AHEAD


async def test_a_fifth_is_never_taken_by_ordinary_mail(clock: StandingClock) -> None:
    permits = permits_of(clock)
    assert len(take_all(permits, high=False)) == 80
    assert len(take_all(permits, high=True)) == 20


async def test_high_goes_while_ordinary_mail_waits(clock: StandingClock) -> None:
    """Ten thousand receipts before it do not delay a password reset."""
    permits = permits_of(clock)
    out = take_all(permits, high=False)
    waiting = [await begun(permits.take("shop", high=False)) for _ in range(10)]
    assert permits.try_take("accounts", high=True) is not None
    assert not any(task.done() for task in waiting)
    for permit in out[:10]:
        permit.done(OK)
    await settled()
    assert all(task.done() for task in waiting)


async def test_waiters_are_served_in_their_order(clock: StandingClock) -> None:
    permits = permits_of(clock)
    out = take_all(permits, high=False)
    first, second = [await begun(permits.take(s, high=False)) for s in ("shop", "accounts")]
    out.pop().done(OK)
    await settled()
    assert (first.done(), second.done()) == (True, False)
    out.pop().give_back()
    await woken(second)


async def test_nobody_overtakes_a_waiter(clock: StandingClock) -> None:
    permits = permits_of(clock, rate=10)
    take_all(permits, high=False)
    waiter = await begun(permits.take("shop", high=False))
    clock._now += 0.1  # a token is there, and the alarm has not rung yet
    assert permits.try_take("shop", high=False) is None
    await woken(waiter)


async def test_high_waiters_are_woken_before_older_ordinary_ones(clock: StandingClock) -> None:
    permits = permits_of(clock)
    out = take_all(permits, high=False) + take_all(permits, high=True)
    ordinary = await begun(permits.take("shop", high=False))
    high = await begun(permits.take("shop", high=True))
    out[0].done(OK)
    await settled()
    assert (high.done(), ordinary.done()) == (True, False)
    out[1].done(OK)
    await woken(ordinary)


async def test_a_permit_ends_once(clock: StandingClock) -> None:
    """`give_back` in a `finally` after `done` must not free a second place."""
    permits = permits_of(clock)
    permit = permits.try_take("shop", high=False)
    assert permit is not None
    permit.done(OK)
    permit.give_back()
    permit.done(Blocked("401"))
    assert permits.snapshot().out == 0
    assert permits.open_for("shop")


async def test_a_cancelled_waiter_takes_nothing_with_it(clock: StandingClock) -> None:
    permits = permits_of(clock)
    out = take_all(permits, high=False)
    gone = await begun(permits.take("shop", high=False))
    waiter = await begun(permits.take("shop", high=False))
    gone.cancel()
    out.pop().done(OK)  # before the cancelled task had a chance to run
    await woken(waiter)
    assert gone.cancelled()
    assert permits.snapshot().out == 80


async def test_a_waiter_cancelled_in_the_turn_of_its_permit_gives_it_back(
    clock: StandingClock,
) -> None:
    permits = permits_of(clock)
    out = take_all(permits, high=False)
    gone = await begun(permits.take("shop", high=False))
    out.pop().done(OK)
    gone.cancel()
    await settled()
    assert gone.cancelled()
    assert permits.snapshot().out == 79


async def test_nothing_rings_while_nobody_waits(clock: StandingClock) -> None:
    permits = permits_of(clock, rate=10)
    take_all(permits, high=False)
    waiter = await begun(permits.take("shop", high=False))
    assert clock.armed == 1
    waiter.cancel()
    await settled()
    assert clock.armed == 0


async def test_on_the_loops_own_clock() -> None:
    """The alarm is the event loop's: no other clock and no task of ours."""
    permits = Permits("postmark", concurrency=1, rate=100)
    for _ in range(30):
        (await permits.take("shop", high=False)).done(OK)
    assert permits.snapshot().out == 0
