"""The audit: each record that is done is found where it ended, and what is taken away is missed."""

from __future__ import annotations

from datetime import timedelta

import orjson
import pytest

from tests.whole.commands import answer, run
from tests.whole.events import receipt, receipts, reset
from tests.whole.stack import Stack

pytestmark = pytest.mark.timeout(120)
MAILS = 12


async def _done(stack: Stack) -> None:
    worker = await stack.worker().start().ready(60)
    await stack.finished(stack.orders, stack.accounts)
    assert await worker.stop() == 0


async def test_each_record_is_accounted_for_and_what_was_taken_away_is_missed(
    stack: Stack,
) -> None:
    """Law: kept while all is there; a row or letter that is gone is a lost record, named."""
    repeated = receipts(MAILS)[:3]
    strange = receipt("X-1", to="x@elsewhere.example")
    await stack.publish(stack.orders, [*receipts(MAILS), b"{", strange], partition=0)
    await stack.publish(stack.orders, [None], key=b"A-1", partition=0)
    await stack.publish(stack.accounts, [reset("R-old", age=timedelta(days=1))])
    await _done(stack)
    await stack.publish(stack.orders, repeated)
    await _done(stack)
    await stack.publish(stack.orders, receipts(1, "later"), partition=1)  # nobody has it yet

    told = await run(stack, "audit", "--json")
    report = orjson.loads(told.output)
    assert told.code == 0, report
    ends = {(one["end"], one["detail"]): one["records"] for one in report["ends"]}
    assert ends == {
        ("sent", ""): MAILS,
        ("duplicate", "its key's row is sent"): len(repeated),
        ("dead_letter", "open: malformed"): 1,
        ("skipped", "tombstone"): 1,
        ("skipped", "not_allowed"): 1,
        ("untraced", "too old by now; was it when it came?"): 1,
    }
    assert (report["kept"], report["records"], report["ahead"]) == (True, MAILS + 7, 1)

    [gone] = await stack.sql(
        'DELETE FROM sent_message WHERE "offset" = 5 RETURNING idempotency_key AS key'
    )
    await stack.sql("DELETE FROM dead_letter")
    await stack.sql(
        "INSERT INTO history (idempotency_key, event, epoch, attempt)"
        " SELECT idempotency_key, 'double', 1, 1 FROM sent_message LIMIT 1"
    )
    told = await run(stack, "audit", "--json", "--topic", stack.orders)
    report = orjson.loads(told.output)
    assert (told.code, report["kept"]) == (1, False)
    assert [(one["offset"], one["idempotency_key"]) for one in report["lost"]] == [
        (5, gone["key"]),
        (MAILS, None),
    ]
    assert len(report["accepted_twice"]) == 1
    told = await run(stack, "audit")
    assert b"2 lost, 1 accepted twice" in told.output
    assert b"example.com" not in told.output


async def test_a_second_mail_that_the_policy_allowed_is_told_apart(stack: Stack) -> None:
    """Law: `on_unknown = "resend"` is a written policy; and an audit makes no member of a group."""
    worker = await stack.worker().start().ready(60)
    await stack.publish(stack.accounts, [reset("R-1")])
    await stack.finished(stack.accounts)
    await stack.sql(
        "INSERT INTO history (idempotency_key, event, epoch, attempt)"
        " SELECT idempotency_key, event, 1, 2"
        "   FROM sent_message, unnest('{unknown,double}'::text[]) AS event"
    )
    told = await run(stack, "audit")
    assert told.code == 0, told.output
    assert b"nothing lost, nothing twice; 1 second mails" in told.output
    assert await worker.stop() == 0
    assert len([line for line in worker.lines() if line.get("event") == "partitions_assigned"]) == 1


async def test_what_lies_before_the_groups_start_is_not_called_lost(stack: Stack) -> None:
    """Law: `start_from` passes over what was there; nothing earlier stands there."""
    stack.settings["kafka"] = {"start_from": "latest"}
    await stack.publish(stack.orders, receipts(2, "before"), partition=0)
    worker = await stack.worker().start().ready(60)
    await worker.until(lambda: worker.said("start_position", topic=stack.orders), 30)
    await stack.publish(stack.orders, receipts(3), partition=0)
    await stack.finished(stack.orders)
    assert await worker.stop() == 0
    report = answer(await run(stack, "audit", "--json"))
    assert {one["end"]: one["records"] for one in report["ends"]} == {"untraced": 2, "sent": 3}


async def test_what_is_past_retention_is_pruned_at_once(stack: Stack) -> None:
    await stack.publish(stack.orders, [*receipts(3), b"{"])
    await _done(stack)
    aged = "interval '31 days'"
    await stack.sql(f"UPDATE sent_message SET claimed_at = claimed_at - {aged}")
    await stack.sql(f"UPDATE dead_letter SET last_failed_at = last_failed_at - {aged}")
    told = await run(stack, "prune")
    assert (told.code, told.output) == (
        0,
        b"deleted 3 rows and letters that are older than 30 days\n",
    )
    assert (await stack.statuses(), await stack.letters()) == ({}, {"malformed": 1})
