"""Fuses in the whole service: what is bad fills no table, what is good goes on, nothing is lost."""

from __future__ import annotations

import asyncio

import pytest

from tests.doubles.engine import Double
from tests.doubles.script import FINE, Fault
from tests.whole.commands import answer, run
from tests.whole.events import receipts, reset
from tests.whole.placing import until
from tests.whole.stack import PARTITIONS, Stack
from tests.whole.worker import Worker

MOST = 41  # dead letters of one blow: 40 of their own reason, and the one that blew it
BAD = 100
STILL = 1.5  # seconds without a request that prove it
SIGNED = ("--by", "ada", "--why", "a test")
REFUSES = Fault("status", 422, '{"ErrorCode":300,"Message":"the template is wrong"}')

pytestmark = pytest.mark.timeout(300)


async def blown(worker: Worker, what: str) -> bool:
    """Readiness, log and metric say so; a restart would mend nothing."""
    ready, told = await worker.get("/readyz")
    _, metrics = await worker.get("/metrics")
    alive, _ = await worker.get("/healthz")
    said = worker.said("fuse blown", alert="fuse") and "sendonce_fuse_blown{" in metrics
    return (ready, alive, what in told, said) == (503, 200, True, True)


async def test_a_topic_that_turns_bad_stands_still_until_its_letter_is_closed(
    stack: Stack, double: Double
) -> None:
    worker = await stack.worker().start().ready(60)
    await stack.publish(stack.orders, [b"{"] * BAD, partition=0)
    await worker.until(lambda: blown(worker, f"topic {stack.orders}"), 60)
    await stack.publish(stack.accounts, [reset("R-1")])
    await stack.finished(stack.accounts)  # other topics go on, and so does what is good
    for number in range(1, PARTITIONS):
        await stack.publish(stack.orders, receipts(3, f"P{number}"), partition=number)
    await until(lambda: _sent(stack, 3 * (PARTITIONS - 1) + 1))
    assert await stack.letters() == {"malformed": MOST - 1, "fused": 1}
    [fused] = answer(await run(stack, "dead-letters", "list", "--reason", "fused", "--json"))
    assert "malformed: value is not JSON" in fused["detail"]
    assert (await run(stack, "discard", str(fused["id"]), *SIGNED)).code == 0
    await worker.until(lambda: worker.said("fuse mended", topic=stack.orders), 30)
    await until(lambda: _letters(stack, 2 * MOST))  # still bad: it blows once more
    assert await stack.letters() == {"malformed": 2 * (MOST - 1), "fused": 2}
    assert await worker.stop() == 0
    stack.settings[f'topics."{stack.orders}"'] = {"fuse": False}
    await stack.worker().start().ready(60)
    await stack.finished(stack.orders)
    assert sum((await stack.letters()).values()) == BAD  # each record is somewhere, once
    assert double.ledger.accepted_twice == []


async def test_a_sender_that_a_provider_turns_down_sends_nothing_until_a_person_says_so(
    stack: Stack, double: Double
) -> None:
    """What was in the air when it blew ends as it is answered; all others wait, and are sent."""
    orders = 400
    double.script.always(REFUSES)
    worker = await stack.worker().start().ready(60)
    await stack.publish(stack.orders, receipts(orders))
    await worker.until(lambda: blown(worker, "provider postmark, sender shop"), 60)
    await until(lambda: _settled(double))
    turned_down = await stack.letters()
    assert turned_down["fused"] == 1
    assert sum(turned_down.values()) < orders / 2
    double.script.always(FINE)
    assert double.ledger.total == 0
    replayed = await run(stack, "replay", "--reason", "fused", "--go", *SIGNED)
    assert replayed.code == 0, replayed.errors
    await stack.finished(stack.orders)
    rejected = turned_down["rejected"]
    await until(lambda: _sent(stack, orders - rejected))
    assert await stack.statuses() == {"sent": orders - rejected, "failed": rejected}
    assert await worker.answers("/readyz")
    assert double.ledger.accepted_twice == []


async def _sent(stack: Stack, count: int) -> bool:
    return (await stack.statuses()).get("sent", 0) == count


async def _letters(stack: Stack, count: int) -> bool:
    return sum((await stack.letters()).values()) == count


async def _settled(double: Double) -> bool:
    before = double.ledger.requests
    await asyncio.sleep(STILL)
    return double.ledger.requests == before
