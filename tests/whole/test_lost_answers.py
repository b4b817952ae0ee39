"""Answers that never came, and workers that are gone: nobody knows, so nobody sends again."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.doubles.engine import Double, Fault
from tests.whole.events import receipts
from tests.whole.reckoning import reckon
from tests.whole.settling import settled, settled_by, stands, told_by_key
from tests.whole.stack import Stack

MAILS = 2000
IN_FLIGHT = 40  # all of them on the wire at once
SHORT: dict[str, dict[str, object]] = {  # a worker that is gone is given up soon
    "kafka": {"session_timeout": "4s"},
    "guard": {"lease": "6s"},
    "providers.postmark": {"timeout": "2s", "connect_timeout": "1s"},
}


@pytest.mark.timeout(200)
async def test_an_accepted_mail_whose_answer_was_lost_is_found_and_never_sent_again(
    stack: Stack, double: Double
) -> None:
    """Unknown at first, then found by asking: told as both, in this order, and one mail each.

    Also when the topic is read anew and every event is repeated.
    """
    double.script.at_rates({"drop": 0.02}, seed=7)
    values = receipts(MAILS)
    await stack.publish(stack.orders, values)
    worker = await stack.worker().start().ready(60)
    await stack.finished(stack.orders)
    await stands(stack, sent=MAILS)
    assert await worker.stop() == 0
    found = await reckon(stack, double.ledger.accepted)
    found.in_order()
    lost = found.told["unknown", False]
    assert 10 < lost < 100
    assert found.accepted == double.ledger.attempts == MAILS
    assert found.letters == {("unknown", "settled"): lost}
    assert await settled_by(stack) == {"lookup": lost}
    heard = list((await told_by_key(stack)).values())
    assert heard.count(["unknown", "sent"]) == lost
    assert heard.count(["sent"]) == MAILS - lost

    stack.group += ".again"
    await stack.publish(stack.orders, values)
    worker = await stack.worker().start().ready(60)
    await stack.finished(stack.orders)
    assert await worker.stop() == 0
    found = await reckon(stack, double.ledger.accepted)
    found.in_order()
    assert found.accepted == double.ledger.attempts == MAILS
    assert found.statuses == {"sent": MAILS}
    assert found.letters == {("unknown", "settled"): lost}
    told = {("sent", False): 2 * MAILS, ("sent", True): MAILS, ("unknown", False): lost}
    assert found.told == told


@pytest.mark.parametrize(
    ("word", "accepted"), [("delay", 0), ("timeout", IN_FLIGHT)], ids=["before", "after"]
)
async def test_a_worker_killed_before_or_after_its_mails_were_accepted_doubles_none(
    stack: Stack, double: Double, word: str, accepted: int
) -> None:
    """Rows in flight when it died become unknown once their lease is over.

    What the provider has is found there. What it has not stays shown: its search promises nothing.
    """
    stack.settings |= SHORT
    double.script.always(Fault(word, seconds=60))
    await stack.publish(stack.orders, receipts(IN_FLIGHT))
    worker = await stack.worker().start().ready(60)
    await worker.until(lambda: double.ledger.attempts == IN_FLIGHT, 60)
    await worker.until(lambda: double.ledger.total == accepted, 60)
    await worker.kill()
    assert (await stack.statuses())["sending"] > 0
    double.script.clear()
    await stack.publish(stack.orders, receipts(IN_FLIGHT, "B"))
    successor = await stack.worker().start().ready(60)
    await stack.finished(stack.orders)
    await settled(stack, double.ledger.accepted)
    assert await successor.stop() == 0
    found = await reckon(stack, double.ledger.accepted)
    found.in_order()
    assert found.accepted == IN_FLIGHT + accepted
    never = IN_FLIGHT - accepted
    assert +Counter(found.statuses) == +Counter(sent=found.accepted, unknown=never)
    assert +Counter(await settled_by(stack)) == +Counter(lookup=accepted)
    assert double.ledger.attempts == 2 * IN_FLIGHT
