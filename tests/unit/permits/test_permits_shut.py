"""An open breaker lets one probe through at a time, and holds up nobody who can go elsewhere."""

from __future__ import annotations

from consumer.model import Blocked, Scope, Transient
from consumer.providers.breaker import FAILURES, State
from consumer.providers.permits import Permits
from tests.unit.permits.clock import StandingClock
from tests.unit.permits.waiting import OK, begun, permits_of, settled, take_all, woken


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
