"""Killed again and again, at moments that nobody chose."""

from __future__ import annotations

import asyncio
import random

import pytest

from tests.doubles.engine import Double, Fault
from tests.whole.load import load
from tests.whole.reckoning import reckon
from tests.whole.settling import settled, settled_by
from tests.whole.stack import Stack

KILLS = 10
SHORT: dict[str, dict[str, object]] = {  # a worker that is gone is given up soon
    "kafka": {"session_timeout": "3s"},
    "guard": {"lease": "4s"},
    "providers.postmark": {"timeout": "1500ms", "connect_timeout": "1s"},
}


@pytest.mark.timeout(400)
async def test_ten_kills_at_random_moments(stack: Stack, double: Double) -> None:
    """Every record ends in one visible state, and no mail is accepted twice.

    What was accepted is found, so only what never was stays unknown.
    """
    stack.settings |= SHORT
    double.script.always(Fault("delay", seconds=0.05))
    moments = random.Random(20)
    async with load(stack, rate=80) as upstream:
        for _ in range(KILLS):
            await _killed_at_work(stack, double, moments.random())
    worker = await stack.worker().start().ready(60)
    await stack.finished(stack.orders)
    await settled(stack, double.ledger.accepted)
    assert await worker.stop() == 0
    found = await reckon(stack, double.ledger.accepted)
    found.in_order()
    assert found.records == upstream.records
    assert found.statuses == {"sent": found.accepted, "unknown": found.unknown}
    assert found.accepted + found.unknown == len(upstream.orders)
    assert found.unknown > 0  # else no kill met a flight, and nothing was tried
    assert set(await settled_by(stack)) <= {"lookup"}


async def _killed_at_work(stack: Stack, double: Double, moment: float) -> None:
    """One worker's life: it sends, and `moment` seconds later it is gone."""
    sent = double.ledger.total
    worker = await stack.worker().start().ready(60)
    await worker.until(lambda: double.ledger.total > sent, 60)
    await asyncio.sleep(moment)
    await worker.kill()
