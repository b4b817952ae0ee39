"""How soon somebody else has taken over what a killed worker had in hand."""

from __future__ import annotations

import random
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.chaos.alone import LEASE, SESSION, Member, Parts, alone, members, reached, shared
from tests.doubles.engine import Double, Fault
from tests.whole.load import load
from tests.whole.stack import Stack

LIMIT: Final = LEASE + SESSION + 2.0  # seconds
RATE: Final = 60.0  # events a second
SLOW: Final = Fault("delay", seconds=0.3)  # so that a death always meets mails in the air

# Every record that was in the log at the death has a row, and none is in the hands of the dead.
STANDING = """
    SELECT count(*) AS rows,
           count(*) FILTER (WHERE status = 'sending' AND owner = $2) AS held
      FROM sent_message
     WHERE "offset" < ($1::bigint[])["partition" + 1]
"""


@dataclass(frozen=True, slots=True)
class Takeover:
    """One death. `in_the_air`: rows that were `sending` under the dead one's name."""

    seconds: float
    in_the_air: int
    twice: int


async def takeovers(parts: Parts, folder: Path, times: int, seed: int) -> AsyncIterator[Takeover]:
    """Kill one of two workers under load, again and again."""
    dice = random.Random(seed)
    async with alone(parts, folder) as (stack, double):
        double.script.always(SLOW)
        async with load(stack, rate=RATE, repeats=False):
            workers = await members(stack, 2)
            for number in range(times):
                await _busy(double, dice)
                yield await _death(stack, double, workers[number % 2])
                await shared(workers)


async def _busy(double: Double, dice: random.Random) -> None:
    enough = double.ledger.total + dice.randint(20, 80)
    await reached(lambda: _is_at(double, enough), 60)


async def _is_at(double: Double, total: int) -> bool:
    return double.ledger.total >= total


async def _death(stack: Stack, double: Double, member: Member) -> Takeover:
    """Kill it, wait until nothing is left in its hands, and start another one in its place."""
    await member.worker.kill()
    died, dead = time.monotonic(), member.owner
    ends = await stack.kafka.end_offsets(stack.orders)
    limits = [ends[number] for number in sorted(ends)]
    [standing] = await stack.sql(STANDING, limits, dead)
    await reached(lambda: _is_taken_over(stack, limits, dead), LIMIT * 4)
    seconds = time.monotonic() - died
    await member.start()
    return Takeover(seconds, standing["held"], len(double.ledger.accepted_twice))


async def _is_taken_over(stack: Stack, limits: Sequence[int], dead: str) -> bool:
    [standing] = await stack.sql(STANDING, limits, dead)
    return bool(standing["rows"] >= sum(limits) and standing["held"] == 0)
