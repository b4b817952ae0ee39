"""What a worker does that was frozen for longer than its lease: it wakes, and sends nothing.

Few requests are let out at once, so at every freeze many mails are claimed whose first byte has not
left. Another worker finds them, with their leases dead, and makes them `unknown`; a Postmark that
says "not found" is no proof, so nobody may send them: what arrives after the waking is from the one
that slept.
"""

from __future__ import annotations

import asyncio
import random
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from tests.chaos.alone import LEASE, Member, Parts, alone, members, reached, shared
from tests.doubles.engine import Double, Fault
from tests.whole.events import receipts
from tests.whole.stack import Stack

BURST: Final = 100  # events before each freeze
NARROW: Final = {"concurrency": 1}  # requests at once: the claimed ones queue behind it
SLOW: Final = Fault("delay", seconds=0.1)
AWAKE: Final = 2.0  # seconds that it is watched for after waking; it wants to send at once
HELD: Final = """
    SELECT idempotency_key FROM sent_message WHERE status = 'sending' AND owner = $1
"""


@dataclass(frozen=True, slots=True)
class Freeze:
    """One sleep. `held`: mails that it had claimed, whose request had not come to the provider."""

    held: int
    sent_on_waking: int
    twice: int


async def freezes(parts: Parts, folder: Path, times: int, seed: int) -> AsyncIterator[Freeze]:
    """Put one of two workers to sleep under load, again and again."""
    dice = random.Random(seed)
    async with alone(parts, folder, **{"providers.postmark": NARROW}) as (stack, double):
        double.script.always(SLOW)
        workers = await members(stack, 2)
        for number in range(times):
            member = workers[number % 2]
            await stack.publish(stack.orders, receipts(BURST, f"F{number}"))
            await reached(partial(_holds, stack, member, dice.randint(5, 25)), 60)
            yield await _sleep(stack, double, member, dice)
            await stack.finished(stack.orders)
            await shared(workers)


async def _sleep(stack: Stack, double: Double, member: Member, dice: random.Random) -> Freeze:
    member.worker.send(signal.SIGSTOP)
    await asyncio.sleep(SLOW.seconds * 4)  # what was on the wire has arrived
    held = await _held(stack, member)
    unsent = held - double.ledger.accepted.keys()
    await asyncio.sleep(LEASE + dice.uniform(0.5, 2))
    await reached(lambda: _nothing_held(stack, member), 30)
    member.worker.send(signal.SIGCONT)
    await asyncio.sleep(AWAKE)
    return Freeze(
        held=len(unsent),
        sent_on_waking=len(unsent & double.ledger.accepted.keys()),
        twice=len(double.ledger.accepted_twice),
    )


async def _held(stack: Stack, member: Member) -> set[str]:
    return {row["idempotency_key"] for row in await stack.sql(HELD, member.owner)}


async def _holds(stack: Stack, member: Member, mails: int) -> bool:
    return len(await _held(stack, member)) >= mails


async def _nothing_held(stack: Stack, member: Member) -> bool:
    return not await _held(stack, member)
