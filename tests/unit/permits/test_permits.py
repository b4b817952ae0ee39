"""Permits: who goes, who waits, and that a waiter is woken by an event and not by a poll."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from consumer.model import Accepted, Blocked, Scope, SlowDown, TooLate, Transient
from consumer.providers.breaker import FAILURES, State
from consumer.providers.permits import AHEAD, Permit, Permits
from tests.unit.permits.clock import StandingClock

T = TypeVar("T")
OK = Accepted("id")


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock()


def permits_of(clock: StandingClock, concurrency: int = 36, rate: float | None = None) -> Permits:
    return Permits("postmark", concurrency=concurrency, rate=rate, clock=clock)


def take_all(permits: Permits, *, high: bool, sender: str = "shop") -> list[Permit]:
    taken = []
    while (permit := permits.try_take(sender, high=high)) is not None:
        taken.append(permit)
    return taken


async def begun(coroutine: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Start it, and let it come to its wait."""
    task = asyncio.create_task(coroutine)
    await settled()
    return task


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def woken(task: asyncio.Task[T]) -> T:
    """It has what it waited for, now: a test of waking must not itself wait."""
    await settled()
    assert task.done()
    return task.result()


# ── Concurrency


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


# ── Rate


async def test_a_waiter_is_woken_when_its_token_is_there(clock: StandingClock) -> None:
    permits = permits_of(clock, rate=10)
    take_all(permits, high=False)
    waiter = await begun(permits.take("shop", high=False))
    clock.advance(0.09)
    await settled()
    assert not waiter.done()
    clock.advance(0.02)
    await woken(waiter)


async def test_the_fleet_shares_the_rate(clock: StandingClock) -> None:
    permits = permits_of(clock, rate=100)
    permits.share(4)
    sent = 0
    for _ in range(1000):
        clock.advance(0.01)
        while permit := permits.try_take("shop", high=False):
            permit.done(OK)
            sent += 1
    assert sent == pytest.approx(250, abs=15)


async def test_more_workers_gone_means_more_for_a_waiter(clock: StandingClock) -> None:
    permits = permits_of(clock, rate=10)
    permits.share(1000)
    take_all(permits, high=False)
    waiter = await begun(permits.take("shop", high=False))
    permits.share(1)
    clock.advance(0.11)
    await woken(waiter)


@pytest.mark.parametrize("unused", [TooLate(), None])
async def test_no_byte_sent_costs_no_token(clock: StandingClock, unused: TooLate | None) -> None:
    permits = permits_of(clock, rate=10)
    permit = take_all(permits, high=False)[0]
    permit.done(unused) if unused else permit.give_back()
    assert permits.try_take("shop", high=False) is not None


async def test_slow_down_stands_still_for_what_was_asked_and_opens_no_breaker(
    clock: StandingClock,
) -> None:
    permits = permits_of(clock)
    for permit in take_all(permits, high=True):
        permit.done(SlowDown("429", retry_after=7))
    assert permits.open_for("shop")
    waiter = await begun(permits.take("shop", high=True))
    clock.advance(6.9)
    await settled()
    assert not waiter.done()
    clock.advance(0.25)
    await woken(waiter)


async def test_no_provider_makes_us_stand_still_for_ever(clock: StandingClock) -> None:
    permits = permits_of(clock)
    permit = permits.try_take("shop", high=False)
    assert permit is not None
    permit.done(SlowDown("429", retry_after=1e9))
    waiter = await begun(permits.take("shop", high=False))
    clock.advance(33)
    await woken(waiter)


# ── Breakers


def shut(permits: Permits) -> None:
    for _ in range(FAILURES):
        permit = permits.try_take("shop", high=False)
        assert permit is not None
        permit.done(Transient("503"))
    assert not permits.open_for("shop")


async def test_a_waiter_becomes_the_probe_when_the_time_is_over(clock: StandingClock) -> None:
    permits = permits_of(clock)
    shut(permits)
    first, second = [await begun(permits.take("shop", high=False)) for _ in range(2)]
    clock.advance(1.01)
    probe = await woken(first)
    assert probe.probe
    assert not second.done()
    probe.done(OK)
    assert not (await woken(second)).probe


async def test_a_probe_given_back_is_the_next_waiters(clock: StandingClock) -> None:
    permits = permits_of(clock)
    shut(permits)
    first, second = [await begun(permits.take("shop", high=False)) for _ in range(2)]
    clock.advance(1.01)
    (await woken(first)).give_back()
    assert (await woken(second)).probe


async def test_a_cancelled_probe_leaves_the_breaker_free(clock: StandingClock) -> None:
    permits = permits_of(clock)
    shut(permits)
    waiter = await begun(permits.take("shop", high=False))
    clock.advance(1.01)
    waiter.cancel()
    await settled()
    assert permits.snapshot().state is State.HALF_OPEN
    assert permits.open_for("shop")


async def test_a_blocked_sender_does_not_hold_up_the_queue(clock: StandingClock) -> None:
    permits = permits_of(clock)
    blocked = permits.try_take("shop", high=False)
    assert blocked is not None
    blocked.done(Blocked("400", Scope.SENDER))
    held = await begun(permits.take("shop", high=False))
    assert permits.try_take("accounts", high=False) is not None
    clock.advance(10.1)
    await woken(held)


async def test_who_can_go_elsewhere_leaves_when_the_breaker_opens(clock: StandingClock) -> None:
    permits = permits_of(clock)
    out = take_all(permits, high=False)
    elsewhere = await begun(permits.take_unless_shut("shop", high=False))
    patient = await begun(permits.take("shop", high=False))
    out.pop().done(Blocked("401"))
    assert await woken(elsewhere) is None
    assert await permits.take_unless_shut("shop", high=False) is None
    assert not patient.done()
    patient.cancel()


async def test_who_can_go_elsewhere_waits_for_a_place(clock: StandingClock) -> None:
    permits = permits_of(clock)
    out = take_all(permits, high=False)
    elsewhere = await begun(permits.take_unless_shut("shop", high=False))
    out.pop().done(OK)
    assert await woken(elsewhere) is not None


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
