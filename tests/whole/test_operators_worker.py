"""A person's commands beside a running worker: through real Kafka, real Postgres and Postmark."""

from __future__ import annotations

import pytest

from tests.doubles.engine import Double, Fault
from tests.whole.commands import answer, run
from tests.whole.events import receipt
from tests.whole.placing import work
from tests.whole.settling import key_of, told
from tests.whole.stack import Stack

SIGNED = ("--by", "ada", "--why", "the customer lost it")


@pytest.mark.timeout(200)
async def test_a_mail_that_was_sent_is_sent_once_more_from_its_record_in_kafka(
    stack: Stack, double: Double
) -> None:
    """No dead letter holds its record. Read again from the start, the topic makes no third mail."""
    value, key = receipt("A-1"), key_of("A-1")
    await stack.publish(stack.orders, [value])
    worker = await work(stack, stack.orders)
    await told(stack, key, "sent")
    done = answer(await run(stack, "resend", key, *SIGNED, "--yes", "--json"))
    newer = done["idempotency_key"]
    await told(stack, newer, "sent")
    assert await worker.stop() == 0
    assert {name: len(ids) for name, ids in double.ledger.accepted.items()} == {key: 1, newer: 1}

    stack.group += ".again"
    await stack.publish(stack.orders, [value])
    worker = await work(stack, stack.orders)
    duplicates = await told(stack, key, "sent", "sent", "sent")
    assert [one["duplicate"] for one in duplicates] == [False, True, True]
    assert await worker.stop() == 0
    assert double.ledger.total == 2

    gone = await run(stack, "resend", "0" * 48, *SIGNED, "--yes")
    assert gone.code == 1
    assert "no row" in "\n".join(gone.lines)


@pytest.mark.timeout(200)
async def test_a_lost_answer_is_told_as_a_story(stack: Stack, double: Double) -> None:
    """From the request that broke off to the proof, with no address in it."""
    key = key_of("A-1")
    double.script.then(Fault("drop"))
    await stack.publish(stack.orders, [receipt("A-1")])
    worker = await work(stack, stack.orders)
    await told(stack, key, "unknown", "sent")
    assert await worker.stop() == 0
    [postmark_id] = double.ledger.accepted[key]
    shown = await run(stack, "show", key)
    text = shown.output.decode()
    first, *_, last = [line for line in text.splitlines() if line.endswith(".")]
    assert "the mail order.receipt to a***@example.com" in first
    assert "the request to postmark broke off" in text
    assert "nobody knew whether it was sent" in text
    assert last.endswith(f"postmark, asked, had it under id {postmark_id}: sent once.")
    assert "a-1@" not in text
