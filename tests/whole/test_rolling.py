"""Deploys under load: workers stop and start, partitions wander, and nobody notices."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor

from tests.doubles.engine import Double, Fault
from tests.whole.events import receipts
from tests.whole.load import load
from tests.whole.reckoning import reckon
from tests.whole.settling import settled_by, stands
from tests.whole.stack import Stack

RATE = 250.0  # events a second
LOADED = 40.0  # seconds under load
EVERY = 3.0  # seconds between rebalances that nobody asked for
DRAIN = 5.0  # as the deployment's configuration says
GRACE = DRAIN + 5 + 10  # the drain, what a stop adds to it, and a machine that is busy


@asynccontextmanager
async def _coming_and_going(stack: Stack) -> AsyncIterator[list[float]]:
    """A third member takes its share of the partitions, does nothing with it, and leaves again."""
    visits: list[float] = []

    async def visit() -> None:
        member = AIOKafkaConsumer(
            stack.orders,
            stack.accounts,
            bootstrap_servers=stack.kafka.bootstrap,
            group_id=stack.group,
            enable_auto_commit=False,
            partition_assignment_strategy=[RoundRobinPartitionAssignor],
        )
        try:
            await member.start()  # returns when it is a member
            await asyncio.sleep(EVERY / 2)
        finally:
            await member.stop()
        visits.append(time.monotonic())

    async def for_ever() -> None:
        while True:
            await visit()
            await asyncio.sleep(EVERY / 2)

    visiting = asyncio.create_task(for_ever())
    try:
        yield visits
    finally:
        visiting.cancel()
        await asyncio.gather(visiting, return_exceptions=True)


@pytest.mark.timeout(300)
async def test_rolling_restarts_and_rebalances_lose_nothing(stack: Stack, double: Double) -> None:
    """Each stop ends with code 0, inside the grace time; every order is one mail."""
    double.script.at_rates({"delay": 0.3}, seed=1)  # so that a stop meets requests under way
    before = receipts(300, "B")
    await stack.publish(stack.orders, before)
    workers = [await stack.worker().start().ready(60) for _ in range(2)]
    await stack.finished(stack.orders)  # the group has begun everywhere
    async with load(stack, rate=RATE) as upstream, _coming_and_going(stack) as visits:
        while upstream.seconds < LOADED:
            oldest = workers.pop(0)
            began = time.monotonic()
            assert await oldest.stop(2 * GRACE) == 0
            assert time.monotonic() - began < GRACE
            workers.append(await stack.worker().start().ready(60))
    await stack.finished(stack.orders)
    assert [await worker.stop(2 * GRACE) for worker in workers] == [0, 0]
    assert len(visits) >= LOADED / EVERY / 3
    found = await reckon(stack, double.ledger.accepted)
    assert found.records == len(before) + upstream.records
    found.all_sent(len(before) + len(upstream.orders))


@pytest.mark.timeout(200)
async def test_a_second_sigterm_ends_a_stalled_stop(stack: Stack, double: Double) -> None:
    """What hangs is parked as unknown, what waits is let go; the next worker sends just that.

    It finds the rest: the provider had taken it.
    """
    stack.settings["kafka"] = {"drain_timeout": "60s"}
    double.script.always(Fault("timeout"))  # each mail is accepted, and no answer ever comes
    await stack.publish(stack.orders, receipts(300))
    worker = await stack.worker(**{"providers.postmark": {"timeout": "15s"}}).start().ready(60)
    await worker.until(lambda: double.ledger.total >= 50, 60)  # the wire is full
    worker.send(signal.SIGTERM)
    await worker.until(lambda: worker.said("stopping"), 30)
    worker.send(signal.SIGTERM)
    began = time.monotonic()
    assert await worker.ended(60) == 0
    assert time.monotonic() - began < 12  # neither the drain's 60 s nor the answers' 15 s
    hung = double.ledger.total
    assert await stack.statuses() == {"unknown": hung, **await _given_back(stack)}

    double.script.clear()
    worker = await stack.worker().start().ready(60)
    await stack.finished(stack.orders)
    await stands(stack, sent=300)
    assert await worker.stop() == 0
    found = await reckon(stack, double.ledger.accepted)
    found.in_order()
    assert found.accepted == 300
    assert await settled_by(stack) == {"lookup": hung}


async def _given_back(stack: Stack) -> dict[str, int]:
    """Claimed, and waiting for the wire: certainly not sent, their lease ended at once."""
    rows = await stack.sql(
        "SELECT attempts FROM sent_message WHERE status = 'waiting' AND lease_until IS NULL"
    )
    assert {row["attempts"] for row in rows} <= {0}
    return {"waiting": len(rows)} if rows else {}
