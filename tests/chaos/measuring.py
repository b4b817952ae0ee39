"""One worker's death, or sleep, measured many times: a line each, then one JSON object."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

from tests.chaos.alone import LEASE, SESSION, Parts, parts
from tests.chaos.frozen import Freeze, freezes
from tests.chaos.takeover import LIMIT, Takeover, takeovers
from tests.chaos.world import machine

Told: TypeAlias = AsyncIterator[str | dict[str, Any]]


@asynccontextmanager
async def _place() -> AsyncIterator[tuple[Parts, Path]]:
    with tempfile.TemporaryDirectory(prefix="sendonce-death-") as made:
        async with parts() as running:
            yield running, Path(made)


async def takeover(times: int, seed: int) -> Told:
    found: list[Takeover] = []
    async with _place() as (running, folder):
        async for each in takeovers(running, folder, times, seed):
            found.append(each)
            yield f"  {each.seconds:6.2f} s, {each.in_the_air} in the air, {each.twice} twice"
    took = sorted(each.seconds for each in found)
    yield {
        "in_order": took[-1] <= LIMIT and not found[-1].twice,
        "kills": len(found),
        "seed": seed,
        "limit_s": LIMIT,
        "lease_s": LEASE,
        "session_timeout_s": SESSION,
        "median_s": round(statistics.median(took), 2),
        "longest_s": round(took[-1], 2),
        "in_the_air": sum(each.in_the_air for each in found),
        "twice": found[-1].twice,
        **machine(),
    }


async def frozen(times: int, seed: int) -> Told:
    found: list[Freeze] = []
    async with _place() as (running, folder):
        async for each in freezes(running, folder, times, seed):
            found.append(each)
            yield f"  {each.held} held, {each.sent_on_waking} sent on waking, {each.twice} twice"
    yield {
        "in_order": not any(each.sent_on_waking or each.twice for each in found),
        "freezes": len(found),
        "seed": seed,
        "lease_s": LEASE,
        "held_unsent": sum(each.held for each in found),
        "sent_on_waking": sum(each.sent_on_waking for each in found),
        "twice": found[-1].twice,
        **machine(),
    }
