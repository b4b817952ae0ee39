"""One event, one mail: through real Kafka, real Postgres, and a double that counts."""

from __future__ import annotations

from tests.doubles.engine import Double
from tests.whole.events import receipts, reset
from tests.whole.stack import Stack

EVENTS = 1000


async def test_each_event_is_one_mail(stack: Stack, double: Double) -> None:
    await stack.publish(stack.orders, receipts(EVENTS))
    await stack.publish(stack.accounts, [reset(f"R{n}") for n in range(10)])
    worker = await stack.worker().start().ready()
    await stack.finished(stack.orders, stack.accounts)
    assert await worker.stop() == 0
    assert double.ledger.summary()["accepted"] == EVENTS + 10
    assert double.ledger.summary()["accepted_twice"] == 0
    assert await stack.statuses() == {"sent": EVENTS + 10}
