"""A stop does not wait for a join: a member that died may hold the group up for its session."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
import structlog

from consumer.intake.cluster import Timing
from consumer.intake.loop import Intake
from tests.integration.intake.conftest import QUICK, Book, Scene

Make = Callable[[int], Awaitable[Scene]]

SESSION = 30.0  # seconds for which the dead are waited for
TIMING = Timing(session=SESSION, heartbeat=1.0, drain=20.0)
BUDGET = 25.0

MEMBER = """
import asyncio, sys
from aiokafka import AIOKafkaConsumer
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor

async def main(bootstrap, topic, group, session):
    member = AIOKafkaConsumer(
        topic, bootstrap_servers=bootstrap, group_id=group, session_timeout_ms=int(session),
        rebalance_timeout_ms=60_000, request_timeout_ms=70_000, enable_auto_commit=False,
        partition_assignment_strategy=[RoundRobinPartitionAssignor])
    await member.start()
    print("member", flush=True)
    await asyncio.Event().wait()

asyncio.run(main(*sys.argv[1:]))
"""


async def _killed_member(here: Scene) -> None:
    """Join the group from a process of its own, and let it die without a word."""
    where = here.kafka.bootstrap, here.topic, here.group, str(int(SESSION * 1000))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", MEMBER, *where, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    async with asyncio.timeout(20):
        assert await process.stdout.readline() == b"member\n"
    process.kill()
    await process.wait()


@asynccontextmanager
async def _joining(here: Scene) -> AsyncIterator[Intake]:
    """Yield an intake whose join waits for the dead; the block stops it."""
    await _killed_member(here)
    intake = Intake(here.consumer(timing=TIMING), Book().handle)
    await intake.open()
    running = asyncio.create_task(intake.run())
    group = intake._consumer._consumer._coordinator
    async with asyncio.timeout(20):
        while not (group._performed_join_prepare and group.member_id):  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.05)
    assert intake.watch().unassigned > 0
    yield intake
    await running


async def test_a_stop_while_joining_leaves_at_once(scene: Make) -> None:
    """It says goodbye beside the join, and so is no ghost that holds up the next one either."""
    here = await scene(1)
    with structlog.testing.capture_logs() as lines:
        async with _joining(here) as intake:
            began = time.monotonic()
            await intake.stop(BUDGET)
            assert time.monotonic() - began < 3.0
    stopped = [line for line in lines if line["event"] == "intake_stopped"]
    assert [line["left_the_group"] for line in stopped] == [True]


async def test_a_goodbye_that_nobody_hears_ends_the_stop_all_the_same(
    scene: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _joining(await scene(1)) as intake:
        _mute(intake, monkeypatch)
        began = time.monotonic()
        await intake.stop(BUDGET)
        assert time.monotonic() - began < 6.0


async def test_a_second_signal_cuts_the_leaving_short(
    scene: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _joining(await scene(1)) as intake:
        _mute(intake, monkeypatch)
        stopping = asyncio.create_task(intake.stop(BUDGET))
        await asyncio.sleep(0.2)
        began = time.monotonic()
        intake.hurry()
        await stopping
        assert time.monotonic() - began < 2.5


async def test_a_stop_in_a_hurry_still_says_goodbye(scene: Make) -> None:
    """Or the partitions would stay unread for a session, for a second of patience."""
    here = await scene(1)
    with structlog.testing.capture_logs() as lines:
        async with here.running(Book().handle, consumer=here.consumer(timing=QUICK)) as intake:
            while intake.watch().unassigned:  # noqa: ASYNC110 - the group decides when
                await asyncio.sleep(0.05)
            intake.hurry()
    stopped = [line for line in lines if line["event"] == "intake_stopped"]
    assert [line["left_the_group"] for line in stopped] == [True]


def _mute(intake: Intake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no further request of this client be answered."""

    async def unanswered(*_: object, **__: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(intake._consumer._consumer._client, "send", unanswered)
