"""How an aiokafka client is ended: within a budget, whatever the brokers do."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from aiokafka.errors import KafkaError
from aiokafka.protocol.group import LeaveGroupRequest

_CUT = 1.0  # seconds for what is cut off to end
_IN_A_HURRY = 0.5  # seconds for the goodbye of a stop that must not wait
_SOON = 2.0  # seconds for one that has nobody to say goodbye to
_GLANCE = 0.1  # seconds between two looks at whether it joins


async def stopped(consumer: Any, budget: float, hurried: asyncio.Event) -> bool:
    """Stop in a task of its own: with brokers down, stop() cancels whoever runs it."""
    stopping = asyncio.create_task(consumer.stop())
    leaving = asyncio.create_task(_leave_while_joining(consumer))
    await _wait(stopping, budget, hurried)
    leaving.cancel()
    return await ended(stopping, 0.0, consumer._client)  # noqa: SLF001 - no public way


async def _wait(stopping: asyncio.Task[None], budget: float, hurried: asyncio.Event) -> None:
    hurry = asyncio.create_task(hurried.wait())
    await asyncio.wait({stopping, hurry}, timeout=budget, return_when=asyncio.FIRST_COMPLETED)
    hurry.cancel()
    if hurried.is_set():
        await asyncio.wait({stopping}, timeout=min(budget, _IN_A_HURRY))


async def _leave_while_joining(consumer: Any) -> None:
    """Say goodbye beside a join that waits for others: the broker then answers it at once.

    stop() waits for that answer first, however long a member that died holds the group up. Not by
    the coordinator's own connection: a broker reads nothing there before it has answered the join.
    """
    group = consumer._coordinator  # noqa: SLF001 - no public way
    while group is not None:
        if group._performed_join_prepare and group.member_id and group.coordinator_id is not None:  # noqa: SLF001 - no public way
            goodbye = LeaveGroupRequest(group.group_id, group.member_id)
            with suppress(KafkaError):  # then the session's end tells the broker
                await consumer._client.send(group.coordinator_id, goodbye)  # noqa: SLF001 - no public way
            return
        await asyncio.sleep(_GLANCE)


async def dismissed(consumer: Any) -> None:
    """End a consumer that is no member of a group, soon and whatever the brokers do."""
    await ended(asyncio.create_task(consumer.stop()), _SOON, consumer._client)  # noqa: SLF001 - no public way


async def ended(stopping: asyncio.Task[None], budget: float, client: Any) -> bool:
    """Wait for a client's stop(); False: it failed or took too long, and is cut off."""
    await asyncio.wait({stopping}, timeout=budget)
    if not stopping.done():
        stopping.cancel()
        await asyncio.wait({stopping}, timeout=_CUT)
    elif not stopping.cancelled() and stopping.exception() is None:
        return True
    # What it did not come to: else connections stay open and metadata is asked for, for ever.
    await asyncio.wait({asyncio.create_task(client.close())}, timeout=_CUT)
    return False
