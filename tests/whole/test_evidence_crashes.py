"""Workers that died over it: the resolver's steps, and rows that nobody comes back for."""

from __future__ import annotations

from functools import partial

import pytest

from tests.doubles.engine import Double, Fault
from tests.whole.conftest import At
from tests.whole.events import receipt
from tests.whole.placing import SESSION, until, work
from tests.whole.settling import (
    happened,
    key_of,
    look_now,
    row_of,
    set_back,
    settled_by,
    shown,
    stands,
    told,
)
from tests.whole.stack import Stack

SHORT: dict[str, dict[str, object]] = {  # a worker that is gone is given up soon
    "kafka": {"session_timeout": SESSION},
    "guard": {"lease": "8s"},
}
INVALID = Fault("status", 422, '{"ErrorCode":300,"Message":"invalid"}')


@pytest.mark.timeout(240)
async def test_a_step_over_which_its_worker_died_is_taken_by_another(at: At) -> None:
    """Killed in the middle of a repeat: unknown again once its lease is over, and repeated."""
    async with at("resend", timeout="4s", connect_timeout="1s") as (stack, double):
        stack.settings |= SHORT
        double.script.then(Fault("drop"), Fault("timeout"))
        await stack.publish(stack.orders, [receipt("A")])
        first = await work(stack)
        await until(partial(_asked, double, 2))
        await first.kill()
        assert (await row_of(stack, key_of("A")))["status"] == "sending"
        second = await stack.worker().start().ready(60)
        await until(lambda: _looked_at_until_sent(stack))
        await told(stack, key_of("A"), "unknown", "sent")
        assert await second.stop() == 0
        row = await row_of(stack, key_of("A"))
        assert (row["settled_by"], row["attempts"]) == ("repeat", 3)
        assert double.ledger.accepted == {key_of("A"): [row["provider_message_id"]]}
        assert "abandoned" in await happened(stack, key_of("A"))


async def test_a_stop_in_the_middle_of_a_step_leaves_it_to_the_next_worker(at: At) -> None:
    """Called back while a repeat is on the wire: the doubt goes on, parked, and nobody is asked."""
    async with at("resend", timeout="20s") as (stack, double):
        stack.settings["guard"] = {"lease": "60s"}
        double.script.then(Fault("drop"), Fault("timeout"))
        await stack.publish(stack.orders, [receipt("A")])
        worker = await work(stack)
        await until(partial(_asked, double, 2))
        assert await worker.stop(15) == 0
        row = await row_of(stack, key_of("A"))
        assert (row["status"], row["lease_until"]) == ("unknown", None)
        await shown(stack, ("unknown", "parked"))
        worker = await work(stack)
        await told(stack, key_of("A"), "unknown", "sent")
        assert await worker.stop() == 0
        row = await row_of(stack, key_of("A"))
        assert double.ledger.accepted == {key_of("A"): [row["provider_message_id"]]}
        assert await settled_by(stack) == {"repeat": 1}


async def test_rows_whose_records_nobody_delivers_any_more_are_swept(
    stack: Stack, double: Double
) -> None:
    """Committed long ago, and open: their records are read back from Kafka.

    `sending`: unknown, and found at the provider. `waiting`: it goes on. Read no more: `orphaned`.
    """
    double.script.for_recipient("never@example.com", INVALID)
    orders = [receipt("SENDING"), receipt("NEVER"), receipt("GONE")]
    await stack.publish(stack.orders, orders[:2], partition=1)  # not where records are deleted
    await stack.publish(stack.orders, orders[2:], partition=0)
    assert await (await work(stack)).stop() == 0
    await stands(stack, sent=2, failed=1)
    await set_back(stack, "SENDING", "sending")
    await set_back(stack, "GONE", "sending")
    await set_back(stack, "NEVER", "waiting")
    await stack.sql("DELETE FROM dead_letter")
    double.script.clear()
    gone = await row_of(stack, key_of("GONE"))
    await stack.kafka.delete_records(stack.orders, gone["partition"], gone["offset"] + 1)
    sent = double.ledger.total

    worker = await stack.worker().start().ready(60)
    standing = {"SENDING": "sent", "NEVER": "sent", "GONE": "unknown"}
    await until(partial(_stand, stack, standing), 150)  # two sweeps: one may find a broker slow
    await told(stack, key_of("SENDING"), "sent", "sent")
    await told(stack, key_of("NEVER"), "dead_letter", "sent")
    assert await worker.stop() == 0
    assert worker.said("swept", key=key_of("SENDING"))
    assert worker.said("orphaned", key=key_of("GONE"))
    assert await settled_by(stack) == {"lookup": 1}
    await shown(stack, ("orphaned", "open"), ("unknown", "settled"), ("exhausted", "settled"))
    assert double.ledger.total == sent + 1  # what had never been sent
    [letter] = await stack.sql("SELECT * FROM dead_letter WHERE reason = 'orphaned'")
    assert (letter["idempotency_key"], letter["record_value"]) == (key_of("GONE"), None)
    assert (await happened(stack, key_of("GONE")))[-1] == "orphaned"


async def _stand(stack: Stack, statuses: dict[str, str]) -> bool:
    found = {order: (await row_of(stack, key_of(order)))["status"] for order in statuses}
    return found == statuses


async def _asked(double: Double, attempts: int) -> bool:
    return double.ledger.attempts >= attempts


async def _looked_at_until_sent(stack: Stack) -> bool:
    """Have the letter due all the time: else it is a minute after it was taken."""
    await look_now(stack)
    return await stack.statuses() == {"sent": 1}
