"""Answers that never came, and workers that are gone: nobody knows, so nobody sends again."""

from __future__ import annotations

import pytest

from tests.doubles.engine import Double, Fault
from tests.whole.events import receipts
from tests.whole.load import load
from tests.whole.reckoning import reckon
from tests.whole.stack import Stack

MAILS = 2000
SHORT: dict[str, dict[str, object]] = {  # a worker that is gone is given up soon
    "kafka": {"session_timeout": "4s"},
    "guard": {"lease": "6s"},
    "providers.postmark": {"timeout": "2s", "connect_timeout": "1s"},
}


@pytest.mark.timeout(200)
async def test_an_accepted_mail_whose_answer_was_lost_is_never_sent_again(
    stack: Stack, double: Double
) -> None:
    """Unknown, shown, and left alone: also when the topic is read anew and the events repeated."""
    double.script.at_rates({"drop": 0.02}, seed=7)
    values = receipts(MAILS)
    await stack.publish(stack.orders, values)
    worker = await stack.worker().start().ready(60)
    await stack.finished(stack.orders)
    assert await worker.stop() == 0
    found = await reckon(stack, double.ledger.accepted)
    found.in_order()
    lost = found.unknown
    assert 10 < lost < 100
    assert found.accepted == MAILS
    assert found.letters == {("unknown", "open"): lost}

    stack.group += ".again"
    await stack.publish(stack.orders, values)
    worker = await stack.worker().start().ready(60)
    await stack.finished(stack.orders)
    assert await worker.stop() == 0
    found = await reckon(stack, double.ledger.accepted)
    found.in_order()
    assert found.accepted == MAILS
    assert found.statuses == {"sent": MAILS - lost, "unknown": lost}
    assert found.letters == {("unknown", "open"): 2 * lost}  # each record has a letter of its own


@pytest.mark.timeout(200)
async def test_a_worker_killed_in_the_middle_leaves_unknowns_and_no_double(
    stack: Stack, double: Double
) -> None:
    """Rows in flight when it died become unknown once their lease is over; all others are sent."""
    stack.settings |= SHORT
    double.script.always(Fault("delay", seconds=0.2))
    async with load(stack, rate=200) as upstream:
        worker = await stack.worker().start().ready(60)
        await worker.until(lambda: double.ledger.total > 200, 60)
        await worker.kill()
        in_flight = (await stack.statuses()).get("sending", 0)
        assert in_flight > 0
        successor = await stack.worker().start().ready(60)
        await successor.until(lambda: double.ledger.total > 600, 60)
    await stack.finished(stack.orders)
    assert await successor.stop() == 0
    found = await reckon(stack, double.ledger.accepted)
    found.in_order()
    assert found.statuses == {"sent": len(upstream.orders) - found.unknown, "unknown": in_flight}
