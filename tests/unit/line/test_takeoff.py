"""Leave to go: who comes from a letter stands in no line behind a breaker."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from consumer.endings import LetGo
from consumer.hand import InHand
from consumer.intake.hold import Hold
from consumer.leave import Leaves
from consumer.model import Address, Blocked, Mail, MailType, Message, Record, Scope
from consumer.providers.fetching import Fetcher
from consumer.providers.permits import Permits
from consumer.routes import Route, Routes
from consumer.takeoff import Takeoff
from tests.unit.line.test_rules import NOW

RECORD = Record("orders", 0, 7, 1_000, None, b"{}", ())
SHOP, ADA = Address("shop@example.com"), Address("ada@example.com")
MESSAGE = Message("k" * 48, "order.receipt", SHOP, ADA, "s", "t", "h", "<k@x>")


async def _shut(*names: str) -> Takeoff:
    routes = {}
    for name in names:
        permits = Permits(name, concurrency=1)
        permit = await permits.take("shop", high=False)
        permit.done(Blocked("401", Scope.ACCOUNT))
        routes[name] = Route(cast("Any", SimpleNamespace(name=name)), permits)
    pilot = SimpleNamespace(leaves=Leaves(Routes(routes), Fetcher()))
    return Takeoff(cast("Any", pilot), cast("Any", None), cast("Any", None))


def _case(*names: str) -> InHand:
    kind = MailType("order.receipt", "orders", names, "shop", max_age=3600.0)
    mail = Mail(kind, "k" * 48, "A-1", "ada@example.com", "f", {}, NOW)
    return InHand(mail, RECORD, Hold(), parked=True)


@pytest.mark.parametrize("names", [("postmark",), ("postmark", "ses")])
async def test_a_parked_mail_does_not_wait_for_a_provider_that_is_down(
    names: tuple[str, ...],
) -> None:
    """Twenty of them are in hand at once: they would keep the letters of all other providers."""
    takeoff, case = await _shut(*names), _case(*names)
    assert await takeoff.depart(case, MESSAGE, None) == LetGo()


async def test_a_new_mail_waits_for_it() -> None:
    takeoff, case = await _shut("postmark"), replace(_case("postmark"), parked=False)
    waiting = asyncio.ensure_future(takeoff.depart(case, MESSAGE, None))
    done, _ = await asyncio.wait({waiting}, timeout=0.05)
    assert not done
    waiting.cancel()
    await asyncio.wait({waiting})
