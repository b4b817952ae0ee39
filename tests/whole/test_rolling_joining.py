"""Stops of a worker that is still joining, because a dead one holds the group up."""

from __future__ import annotations

import signal
import time

import pytest

from tests.whole.stack import Stack, Worker

SESSION = "60s"  # for which the dead one is waited for
QUICKLY = 8.0  # seconds


async def _joining(stack: Stack) -> Worker:
    """Kill a member of the group, start another, and wait until it waits."""
    stack.settings["kafka"] = {"session_timeout": SESSION, "drain_timeout": "20s"}
    dead = await stack.worker().start().ready(60)
    await dead.kill()
    worker = stack.worker().start()
    await worker.until(lambda: worker.said("working"), 30)
    return worker


@pytest.mark.parametrize("signals", [1, 2])
async def test_a_worker_that_is_still_joining_stops_quickly(stack: Stack, signals: int) -> None:
    """It leaves the group that it had not quite joined, so that the next one need not wait."""
    worker = await _joining(stack)
    began = time.monotonic()
    for _ in range(signals):
        worker.send(signal.SIGTERM)
    assert await worker.ended(40) == 0
    assert time.monotonic() - began < QUICKLY
    assert worker.said("intake_stopped", left_the_group=True)
    assert not worker.said("partitions_assigned")
