"""With other credentials a blocked provider is asked at once; what answers the old ones is over."""

from __future__ import annotations

import pytest

from consumer.model import Blocked, Scope, Transient
from consumer.providers.breaker import State
from consumer.providers.permits import Permits
from tests.unit.permits.clock import StandingClock
from tests.unit.permits.test_permits_shut import shut
from tests.unit.permits.waiting import OK, begun, permits_of, settled, take_all, woken

BAD = Blocked("401")


async def test_a_waiter_becomes_the_probe_at_once(clock: StandingClock) -> None:
    permits = permits_of(clock)
    take_all(permits, high=False).pop().done(BAD)
    waiter = await begun(permits.take("shop", high=False))
    permits.renew()
    assert (await woken(waiter)).probe


async def test_one_probe_only(clock: StandingClock) -> None:
    permits = permits_of(clock)
    take_all(permits, high=False).pop().done(BAD)
    waiters = [await begun(permits.take("shop", high=False)) for _ in range(2)]
    permits.renew()
    await settled()
    assert [waiter.done() for waiter in waiters] == [True, False]
    (await woken(waiters[0])).done(OK)
    assert not (await woken(waiters[1])).probe


@pytest.mark.parametrize("scope", list(Scope))
async def test_what_was_under_way_with_the_old_ones_blocks_nothing(
    clock: StandingClock, scope: Scope
) -> None:
    permits = permits_of(clock)
    out = take_all(permits, high=False)
    permits.renew()
    out.pop().done(Blocked("401", scope))
    assert permits.snapshot().state is State.CLOSED
    assert permits.open_for("shop")


async def test_a_probe_of_the_old_ones_neither_opens_nor_closes(clock: StandingClock) -> None:
    permits = permits_of(clock)
    take_all(permits, high=False).pop().done(BAD)
    clock.advance(10.1)
    old = permits.try_take("shop", high=False)
    assert old is not None
    permits.renew()
    old.done(BAD)
    new = permits.try_take("shop", high=False)
    assert new is not None
    assert new.probe
    new.done(OK)
    assert permits.snapshot().state is State.CLOSED


async def test_if_the_new_ones_are_refused_too_it_is_shut_for_as_long_as_at_first(
    clock: StandingClock,
) -> None:
    permits = permits_of(clock)
    out = take_all(permits, high=False)
    out.pop().done(BAD)
    permits.renew()
    out.pop().give_back()
    probe = permits.try_take("shop", high=False)
    assert probe is not None
    probe.done(BAD)
    assert not permits.open_for("shop")
    clock.advance(10.1)
    assert permits.open_for("shop")


async def test_a_blocked_sender_is_asked_at_once_as_well(clock: StandingClock) -> None:
    permits = permits_of(clock)
    blocked = permits.try_take("shop", high=False)
    assert blocked is not None
    blocked.done(Blocked("400", Scope.SENDER))
    assert not permits.open_for("shop")
    permits.renew()
    assert permits.open_for("shop")


async def test_an_outage_keeps_its_time(clock: StandingClock) -> None:
    """A provider that does not answer has other causes than our token."""
    permits = permits_of(clock)
    shut(permits)
    permits.renew()
    assert not permits.open_for("shop")
    clock.advance(1.01)
    probe = permits.try_take("shop", high=False)
    assert probe is not None
    permits.renew()
    probe.done(Transient("503"))
    assert permits.open_for("shop"), "its answer counts no more, and the next may be the probe"


async def test_every_such_answer_is_told(clock: StandingClock) -> None:
    told: list[int] = []
    permits = Permits("p", concurrency=36, clock=clock, on_blocked=lambda: told.append(1))
    out = take_all(permits, high=False)
    out.pop().done(Transient("503"))
    out.pop().done(OK)
    assert not told
    for _ in range(2):
        out.pop().done(BAD)
    assert len(told) == 2
