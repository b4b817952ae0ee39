"""A token is one attempt: the fleet shares the rate, and what sent no byte costs none."""

from __future__ import annotations

import pytest

from consumer.model import SlowDown, TooLate
from tests.unit.permits.clock import StandingClock
from tests.unit.permits.waiting import OK, begun, permits_of, settled, take_all, woken


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
