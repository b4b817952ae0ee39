"""Providers that can be asked: found is sent; not found says little, and only when it is late."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import partial

import pytest

from tests.doubles.engine import Double, Fault
from tests.whole.conftest import At
from tests.whole.events import receipt, reset
from tests.whole.placing import until, work
from tests.whole.reckoning import reckon
from tests.whole.settling import (
    happened,
    key_of,
    key_of_reset,
    pass_by,
    row_of,
    shown,
    stands,
    told,
    wait_a_day,
)
from tests.whole.stack import Stack

ASKED = {"postmark": {}, "mailgun": {"read_events": True}, "sendgrid": {"activity": True}}
# Longer than any of them may take to show a mail, the minute included that it may be on its way.
LATE = timedelta(minutes=45)


@pytest.mark.parametrize(("provider", "options"), ASKED.items(), ids=ASKED)
async def test_what_was_accepted_is_found_and_what_was_not_is_shown_or_sent_by_policy(
    at: At, provider: str, options: Mapping[str, object]
) -> None:
    """Absence proves nothing: `hold` shows the mail to a person, `resend` sends it once more."""
    async with at(provider, **options) as (stack, double):
        held, wanted, lost = key_of("HELD"), key_of_reset("WANTED"), key_of("LOST")
        double.script.always(Fault("reset"))
        await stack.publish(stack.orders, [receipt("HELD")])
        await stack.publish(stack.accounts, [reset("WANTED")])
        worker = await work(stack, stack.orders, stack.accounts)
        await stands(stack, unknown=2)
        await stack.publish(stack.orders, [receipt("HELD")])
        await stack.finished(stack.orders)  # parked beside the first
        await wait_a_day(stack)
        double.script.clear()

        double.script.then(Fault("drop"))
        await stack.publish(stack.orders, [receipt("LOST")])
        await told(stack, lost, "unknown", "sent")
        row = await row_of(stack, lost)
        assert (row["settled_by"], row["attempts"]) == ("lookup", 1)
        assert double.ledger.accepted == {lost: [row["provider_message_id"]]}

        await _asked_too_early(stack, double)
        assert await stack.statuses() == {"sent": 1, "unknown": 2}
        assert double.ledger.attempts == 3

        await pass_by(stack, LATE)
        await told(stack, wanted, "unknown", "sent")
        await shown(stack, *[("unknown", "open")] * 2, *[("unknown", "settled")] * 2)
        assert await worker.stop() == 0
        assert (await row_of(stack, wanted))["settled_by"] == "policy"
        assert (await row_of(stack, wanted))["attempts"] == 2
        assert (await row_of(stack, held))["status"] == "unknown"
        assert (await happened(stack, held))[-1] == "open"
        assert held not in double.ledger.accepted
        assert double.ledger.attempts == 4
        found = await reckon(stack, double.ledger.accepted, stack.orders, stack.accounts)
        found.in_order()


async def test_a_provider_that_refuses_to_be_asked_hides_no_mail_from_a_person(at: At) -> None:
    """A domain's sending key may not read events: asked in vain for hours, then it is shown."""
    async with at("mailgun", api_key="key-send", read_events=True) as (stack, double):
        double.script.then(Fault("drop"))
        await stack.publish(stack.orders, [receipt("A")])
        worker = await work(stack)
        await until(partial(_asked, double, 1))
        await until(partial(_happened, stack, "asked"))
        await pass_by(stack, timedelta(hours=1))
        await until(partial(_asked, double, 2))
        await shown(stack, ("unknown", "parked"))
        await pass_by(stack, timedelta(hours=2))
        await shown(stack, ("unknown", "open"))
        assert await worker.stop() == 0
        assert await stack.statuses() == {"unknown": 1}
        assert double.ledger.attempts == 1
        asked, opened = (await stack.sql("SELECT * FROM history ORDER BY id"))[-2:]
        assert (asked["event"], opened["event"]) == ("asked", "open")
        assert "401" in asked["detail"]


async def _asked_too_early(stack: Stack, double: Double) -> None:
    """Asked at once, a mail that is not there may still be on its way."""
    asked = double.ledger.asked
    await pass_by(stack, timedelta())
    await until(partial(_asked, double, asked + 2))
    await until(partial(_looked_in_vain, stack))
    await wait_a_day(stack)


async def _asked(double: Double, times: int) -> bool:
    return double.ledger.asked >= times


async def _looked_in_vain(stack: Stack) -> bool:
    rows = await stack.sql("SELECT 1 FROM history WHERE event = 'asked' AND detail ~ 'not found'")
    return len(rows) >= 2


async def _happened(stack: Stack, event: str) -> bool:
    return bool(await stack.sql("SELECT 1 FROM history WHERE event = $1", event))
