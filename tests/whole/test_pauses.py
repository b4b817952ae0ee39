"""A person stops sending under load, in every worker within seconds: 0 lost, 0 twice."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import aiohttp
import pytest

from tests.doubles.engine import Double
from tests.whole.commands import answer, run
from tests.whole.events import receipts, reset
from tests.whole.load import load
from tests.whole.reckoning import reckon
from tests.whole.stack import Stack
from tests.whole.worker import watched

RATE = 60.0  # events a second
SIGNED = ("--by", "ada", "--why", "a test")
SECONDS = 6.0  # within which every worker has stopped: a look every two, and a busy machine
STILL = 4.0  # seconds of standing that prove it

pytestmark = pytest.mark.timeout(300)


async def _until(condition: Callable[[], Awaitable[bool] | bool], seconds: float) -> None:
    until = time.monotonic() + seconds
    while True:
        found = condition()
        if found if isinstance(found, bool) else await found:
            return
        assert time.monotonic() < until
        await asyncio.sleep(0.1)


async def test_everything_stops_in_every_worker_keeps_its_offsets_and_drains(
    stack: Stack, double: Double
) -> None:
    """Readiness, metric and command say so; liveness does not change, and a new worker obeys."""
    workers = [await stack.worker().start().ready(60) for _ in range(2)]
    async with watched(workers[0]) as pulse, load(stack, rate=RATE) as upstream:
        await _until(lambda: double.ledger.total > 100, 60)
        told = answer(await run(stack, "pause", "--all", *SIGNED, "--json"))
        assert told["stops"]["stopped"] == ["order.receipt", "password.reset"]
        await asyncio.sleep(SECONDS)
        workers.append(stack.worker().start())  # it reads what is paused before it reads a record
        stood, behind = double.ledger.total, await stack.behind(stack.orders)
        await asyncio.sleep(STILL)
        assert double.ledger.total == stood
        assert await stack.behind(stack.orders) > behind
        assert await stack.letters() == {}
        for worker in workers[:2]:
            assert not await worker.answers("/readyz")
            status, metrics = await worker.get("/metrics")
            assert (status, 'sendonce_paused{name="",scope="all"} 1.0' in metrics) == (200, True)
        answer(await run(stack, "resume", "--all", "--json"))
        await _until(lambda: double.ledger.total > stood + 100, 30)
    assert pulse.statuses["/healthz"] == {200}
    await stack.finished(stack.orders)
    for worker in workers:
        assert await worker.stop() == 0
    (await reckon(stack, double.ledger.accepted)).all_sent(len(upstream.orders))


async def test_a_worker_that_ends_while_paused_leaves_all_to_the_next(
    stack: Stack, double: Double
) -> None:
    worker = await stack.worker().start().ready(60)
    await run(stack, "pause", "--provider", "postmark", *SIGNED)
    await stack.publish(stack.orders, receipts(300))
    await worker.until(lambda: worker.said("paused", scope="provider", name="postmark"), 30)
    assert await worker.stop() == 0
    heir = stack.worker().start()
    await heir.until(lambda: heir.said("working"), 60)
    await run(stack, "resume", "--provider", "postmark")
    await stack.finished(stack.orders)
    assert await heir.stop() == 0
    (await reckon(stack, double.ledger.accepted)).all_sent(300)


async def test_a_stopped_type_keeps_nobody_else_waiting(stack: Stack, double: Double) -> None:
    """More of it waits than a worker takes in hand: the others go through all the same."""
    worker = await stack.worker(kafka={"max_in_flight": 32}).start().ready(60)
    text = (await run(stack, "pause", "--type", "order.receipt", *SIGNED)).output.decode()
    assert "stops: order.receipt\n" in text
    await worker.until(lambda: worker.said("paused", name="order.receipt"), 30)
    await stack.publish(stack.orders, receipts(600))
    await _until(lambda: _stands(stack), 30)
    await stack.publish(stack.accounts, [reset(f"R-{number}") for number in range(50)])
    await stack.finished(stack.accounts, seconds=30)
    assert double.ledger.total == 50
    await worker.until(lambda: worker.answers("/readyz"), 10)
    await run(stack, "resume", "--type", "order.receipt")
    await stack.finished(stack.orders)
    assert await worker.stop() == 0
    (await reckon(stack, double.ledger.accepted, stack.orders, stack.accounts)).all_sent(650)


async def _stands(stack: Stack) -> bool:
    return await stack.behind(stack.orders) == 600


async def test_the_admin_port_stops_and_lets_go_on(stack: Stack, double: Double) -> None:
    stack.settings["admin"] = {"token": "canary-token"}
    worker = await stack.worker().start().ready(60)
    headers = {"Authorization": "Bearer canary-token"}
    url = f"{worker.url}/api/pauses/type/order.receipt"
    async with aiohttp.ClientSession(headers=headers) as session:
        async with session.put(url, json={"by": "ada", "why": "canary why"}) as response:
            assert response.status == 200
        await stack.publish(stack.orders, receipts(20))
        await asyncio.sleep(STILL)
        assert double.ledger.total == 0
        async with session.delete(url) as response:
            assert (response.status, (await response.json())["paused"]) == (200, [])
    await stack.finished(stack.orders)
    assert await worker.stop() == 0
    (await reckon(stack, double.ledger.accepted)).all_sent(20)
    assert b"canary" not in worker.log.read_bytes()


async def test_a_slip_and_a_pause_that_nobody_signs_are_refused(stack: Stack) -> None:
    slip = await run(stack, "pause", "--type", "order.receit", *SIGNED)
    assert slip.code == 2
    assert "there are order.receipt, password.reset" in slip.lines[-1]
    assert (await run(stack, "pause", "--all")).code == 2
    assert (await run(stack, "resume", "--all")).code == 1
    assert answer(await run(stack, "pause", "--json"))["paused"] == []
