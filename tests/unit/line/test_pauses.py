"""What a person has stopped goes out by no way, and goes on by itself when it is lifted."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from consumer.guard.pauses import Pause, Scope, Target
from consumer.intake.hold import Hold
from consumer.model import MailType
from consumer.pauses import Effect, Pauses, effect, unknown
from consumer.providers.permits import Permits
from consumer.routes import Route, Routes
from tests.unit.permits.waiting import begun, settled, woken

NOW = datetime(2026, 3, 1, tzinfo=UTC)
ALL, RECEIPTS = Target(Scope.ALL), Target(Scope.TYPE, "order.receipt")
POSTMARK, SES = Target(Scope.PROVIDER, "postmark"), Target(Scope.PROVIDER, "ses")


def mail_type(name: str, *providers: str, topic: str = "orders") -> MailType:
    return MailType(name, topic, providers, "shop", max_age=3600.0)


RECEIPT = mail_type("order.receipt", "postmark")
NOTICE = mail_type("order.sent", "postmark", "ses")
RESET = mail_type("password.reset", "ses", topic="accounts")


def paused(*targets: Target) -> list[Pause]:
    return [Pause(target, "ada", "because", NOW) for target in targets]


class House:
    def __init__(self) -> None:
        self.pauses = Pauses((RECEIPT, NOTICE, RESET))
        self.permits = {name: Permits(name, concurrency=1) for name in ("postmark", "ses")}
        provider = {name: cast("Any", SimpleNamespace(name=name)) for name in self.permits}
        routes = {name: Route(provider[name], one) for name, one in self.permits.items()}
        self.routes = Routes(routes, self.pauses)
        self.standing = 0

    def stop(self, *targets: Target) -> None:
        self.pauses.take(paused(*targets))

    def hold(self) -> Hold:
        def stand(change: int) -> None:
            self.standing += change

        return Hold(stand=stand)

    def out(self) -> int:
        return sum(one.snapshot().out for one in self.permits.values())


@pytest.mark.parametrize("target", [ALL, RECEIPTS, POSTMARK])
async def test_who_is_stopped_waits_without_a_permit_or_a_place_and_goes_on(target: Target) -> None:
    house = House()
    house.stop(target)
    waiting = await begun(house.routes.permit(RECEIPT, house.hold()))
    assert (waiting.done(), house.out(), house.standing) == (False, 0, 1)
    house.stop()
    route, _ = await woken(waiting)
    assert route.provider.name == "postmark"
    assert house.standing == 0


@pytest.mark.parametrize("target", [RECEIPTS, POSTMARK])
async def test_the_others_go(target: Target) -> None:
    house = House()
    house.stop(target)
    route, _ = await house.routes.permit(RESET, house.hold())
    assert route.provider.name == "ses"


async def test_a_pause_that_is_lifted_for_another_leaves_it_standing() -> None:
    house = House()
    house.stop(RECEIPTS, SES)
    waiting = await begun(house.routes.permit(RECEIPT, house.hold()))
    house.stop(RECEIPTS)
    await settled()
    assert not waiting.done()
    waiting.cancel()
    await asyncio.wait({waiting})
    assert house.standing == 0, "called back: its place is counted once"


async def test_a_paused_first_provider_is_passed_over() -> None:
    house = House()
    house.stop(POSTMARK)
    route, _ = await house.routes.permit(NOTICE, house.hold())
    assert route.provider.name == "ses"
    house.stop(POSTMARK, SES)
    waiting = await begun(house.routes.permit(NOTICE, house.hold()))
    assert not waiting.done()
    waiting.cancel()


async def test_who_is_stopped_while_waiting_for_a_permit_gives_it_back() -> None:
    house = House()
    out = [await house.routes.permit(RECEIPT, house.hold())]
    while (permit := house.permits["postmark"].try_take("shop", high=False)) is not None:
        out.append((out[0][0], permit))
    waiting = await begun(house.routes.permit(RECEIPT, house.hold()))
    house.stop(RECEIPTS)
    for _, permit in out:
        permit.give_back()
    await settled()
    assert (waiting.done(), house.out(), house.standing) == (False, 0, 1)
    house.stop()
    await woken(waiting)


@pytest.mark.parametrize("target", [ALL, RECEIPTS, POSTMARK])
async def test_who_comes_from_a_letter_does_not_wait(target: Target) -> None:
    """Twenty letters are in hand at once: they would keep all others from their turn."""
    house = House()
    house.stop(target)
    assert await house.routes.permit_unless_shut(RECEIPT) is None
    assert await house.routes.permit_at(house.routes.by_name["postmark"], RECEIPT) is None
    house.stop()
    assert await house.routes.permit_unless_shut(RECEIPT) is not None


async def test_what_changes_is_told_once() -> None:
    told: list[tuple[str, str]] = []
    pauses = Pauses((), lambda word, target: told.append((word, str(target))))
    for targets in ([RECEIPTS], [RECEIPTS], [RECEIPTS, ALL], []):
        pauses.take(paused(*targets))
    assert told[:2] == [("paused", "type order.receipt"), ("paused", "all")]
    assert sorted(told[2:]) == [("resumed", "all"), ("resumed", "type order.receipt")]


@pytest.mark.parametrize(
    ("targets", "what"),
    [
        ([ALL], Effect(("order.receipt", "order.sent", "password.reset"), (), {}, 7)),
        ([RECEIPTS], Effect(("order.receipt",), ("order.sent",), {}, 3)),
        ([POSTMARK], Effect(("order.receipt",), ("order.sent",), {"order.sent": "ses"}, 3)),
        ([SES], Effect(("password.reset",), (), {}, 4)),
        ([], Effect((), (), {}, 0)),
    ],
)
async def test_what_stops_with_it(targets: list[Target], what: Effect) -> None:
    """Others on the same topic come to a stand behind it: offsets are kept in their order."""
    house = House()
    house.stop(*targets)
    parked = {"order.receipt": 3, "password.reset": 4, "gone": 9}
    assert effect(house.pauses, parked) == what
    assert house.pauses.stands_still() == (len(what.stopped) == 3)


async def test_a_slip_in_a_name_stops_nothing_and_is_told() -> None:
    pauses = House().pauses
    for known in (ALL, RECEIPTS, SES):
        assert unknown(known, pauses) is None
    told = unknown(Target(Scope.TYPE, "order.receit"), pauses)
    assert told == (
        "there is no type order.receit; there are order.receipt, order.sent, password.reset"
    )
