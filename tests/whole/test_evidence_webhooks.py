"""Providers that cannot be asked, and tell by themselves: late, early, twice, or never."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from tests.doubles.engine import Double, Fault
from tests.whole.calling import Listener, listening, voice
from tests.whole.conftest import At
from tests.whole.events import receipt, reset
from tests.whole.placing import SESSION, until
from tests.whole.reckoning import reckon
from tests.whole.settling import (
    happened,
    key_of,
    key_of_reset,
    look_now,
    pass_by,
    row_of,
    shown,
    stands,
    told,
)
from tests.whole.stack import Stack

PATIENCE = timedelta(minutes=3)  # longer than a webhook is waited for
A, B, R = key_of("A"), key_of("B"), key_of_reset("R")

pytestmark = pytest.mark.parametrize("provider", ["ses", "sendgrid"])


@asynccontextmanager
async def _deployed(at: At, provider: str) -> AsyncIterator[tuple[Stack, Double, Listener]]:
    said = voice(provider)
    async with at(provider, **said.options) as (stack, double):
        stack.settings["kafka"] = {"session_timeout": SESSION}
        yield stack, double, await listening(stack, said)


async def _lost(stack: Stack, double: Double, *orders: str) -> None:
    """Have receipts accepted whose answers are lost; each is parked, and its webhook waited for."""
    double.script.then(*[Fault("drop") for _ in orders])
    await stack.publish(stack.orders, [receipt(order) for order in orders])
    await _waited_for(stack, len(orders))


async def _waited_for(stack: Stack, mails: int) -> None:
    async def so() -> bool:
        return len(await stack.sql("SELECT 1 FROM history WHERE event = 'waiting'")) == mails

    await until(so)
    letters = await stack.sql("SELECT 1 FROM dead_letter WHERE status = 'parked'")
    assert len(letters) == mails, "it is not a person's turn while a webhook may tell"


async def _heard(stack: Stack, key: str, *words: str) -> None:
    """Wait for what upstream hears; the resolver tells when something else is due."""
    await look_now(stack)
    await told(stack, key, *words)


async def test_a_signed_event_settles_a_lost_answer_and_a_forged_one_changes_nothing(
    at: At, provider: str
) -> None:
    async with _deployed(at, provider) as (stack, double, listener):
        await _lost(stack, double, "A", "B")
        [mail] = double.ledger.accepted[A]
        before = await row_of(stack, A), await happened(stack, A)
        assert await listener.forged(A, mail, "accepted") == 401
        assert (await row_of(stack, A), await happened(stack, A)) == before
        requests = "sendonce_webhooks_total"
        assert await listener.counted(requests, provider=provider, result="forged") == 1

        await listener.told(key_of("nobody's"), mail, "accepted")
        events = "sendonce_webhook_news_total"
        assert await listener.counted(events, provider=provider, news="unknown_key") == 1
        await listener.told(A, mail, "accepted")
        row = await row_of(stack, A)
        assert (row["status"], row["settled_by"]) == ("sent", "webhook")
        assert (row["provider_message_id"], row["attempts"]) == (mail, 1)
        await shown(stack, ("unknown", "settled"), ("unknown", "parked"))
        await _heard(stack, A, "unknown", "sent")

        await listener.told(B, double.ledger.accepted[B][0], "accepted")
        assert await listener.worker.stop() == 0
        found = await reckon(stack, double.ledger.accepted)
        found.in_order()
        assert (found.accepted, double.ledger.attempts) == (2, 2)
        assert await stack.statuses() == {"sent": 2}


async def test_events_out_of_order_and_twice_leave_the_worst_and_are_told_once(
    at: At, provider: str
) -> None:
    """Bounces and complaints of a mail that was plainly sent are outcomes of their own."""
    async with _deployed(at, provider) as (stack, double, listener):
        await stack.publish(stack.orders, [receipt("A")])
        await stands(stack, sent=1)
        await _lost(stack, double, "B")
        [mail] = double.ledger.accepted[A]
        await listener.told(A, mail, "delivered", "accepted", "accepted", "delivered")
        assert (await row_of(stack, A))["delivery"] == "delivered"
        await listener.told(A, mail, "bounced", "delivered", "bounced", "accepted")
        row = await row_of(stack, A)
        assert (row["status"], row["delivery"]) == ("sent", "bounced")
        assert row["delivery_at"] is not None
        await _heard(stack, A, "sent", "bounced")
        await listener.told(A, mail, "complained", "bounced", "complained")
        await _heard(stack, A, "sent", "bounced", "complained")
        assert await listener.worker.stop() == 0
        row = await row_of(stack, A)
        assert (row["delivery"], row["settled_by"]) == ("complained", None)
        assert await happened(stack, A) == ["bounced", "complained"]
        last = (await told(stack, A, "sent", "bounced", "complained"))[-1]
        assert (last["provider"], last["provider_message_id"]) == (provider, mail)


async def test_an_event_before_our_own_write_is_the_same_mail(at: At, provider: str) -> None:
    """The answer comes byte by byte, and the webhook meanwhile: one mail, told once as sent."""
    async with _deployed(at, provider) as (stack, double, listener):
        early: list[asyncio.Task[None]] = []

        def call(key: str, mail: str) -> None:
            early.append(asyncio.ensure_future(listener.told(key, mail, "delivered")))

        double.ledger.on_accept = call
        double.script.then(Fault("slow", seconds=0.05))
        await stack.publish(stack.orders, [receipt("A")])
        await stands(stack, sent=1)
        assert not listener.worker.said("attempt", key=A), "our own answer was to come later"
        await listener.worker.until(lambda: listener.worker.said("attempt", key=A), 30)
        await asyncio.gather(*early)
        await told(stack, A, "sent")
        await stack.finished(stack.orders)
        assert await listener.counted("sendonce_doubles_total") == 0
        assert await listener.worker.stop() == 0
        await told(stack, A, "sent")
        row = await row_of(stack, A)
        assert (row["settled_by"], row["delivery"]) == ("webhook", "delivered")
        assert row["second_message_id"] is None
        assert await stack.letters() == {}


async def test_a_webhook_that_keeps_silent_leaves_it_to_the_policy_and_may_still_come(
    at: At, provider: str
) -> None:
    """`hold`: a person's turn, until it comes. `resend`: once more; then it tells of both."""
    async with _deployed(at, provider) as (stack, double, listener):
        double.script.then(Fault("drop"), Fault("drop"))
        await stack.publish(stack.orders, [receipt("A")])
        await stack.publish(stack.accounts, [reset("R")])
        await stands(stack, unknown=2)
        await _waited_for(stack, 2)
        await pass_by(stack, PATIENCE)
        await stands(stack, unknown=1, sent=1)
        await shown(stack, ("unknown", "open"), ("unknown", "settled"))
        row = await row_of(stack, R)
        assert (row["settled_by"], row["attempts"]) == ("policy", 2)
        first, second = double.ledger.accepted[R]
        assert row["provider_message_id"] == second
        await told(stack, R, "unknown", "sent")

        await listener.told(R, second, "delivered")
        assert (await row_of(stack, R))["second_message_id"] is None
        await listener.told(R, first, "delivered", "bounced", "delivered")
        assert await listener.counted("sendonce_doubles_total") == 1
        row = await row_of(stack, R)
        assert (row["provider_message_id"], row["second_message_id"]) == (second, first)
        assert row["delivery"] == "delivered", "what became of the other one is in the history"

        await listener.told(A, double.ledger.accepted[A][0], "accepted")
        await shown(stack, ("unknown", "settled"), ("unknown", "settled"))
        assert await listener.worker.stop() == 0
        assert listener.worker.said("accepted twice", key=R, alert="double")
        assert (await row_of(stack, A))["settled_by"] == "webhook"
        assert len(double.ledger.accepted[A]) == 1
