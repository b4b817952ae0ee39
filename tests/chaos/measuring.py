"""One worker's death, or sleep, measured many times: a line each, a table, one JSON object."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.chaos.alone import LEASE, SESSION, parts
from tests.chaos.frozen import freezes
from tests.chaos.takeover import LIMIT, takeovers
from tests.chaos.world import machine


async def takeover(times: int, seed: int) -> Iterator[dict[str, Any] | str]:
    with tempfile.TemporaryDirectory(prefix="sendonce-takeover-") as made:
        async with parts() as running:
            found = await takeovers(running, Path(made), times, seed)
    took = sorted(each.seconds for each in found)
    facts = {
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
    return iter(
        [*(f"  {each.seconds:6.2f} s, {each.in_the_air} in the air" for each in found), facts]
    )


async def frozen(times: int, seed: int) -> Iterator[dict[str, Any] | str]:
    with tempfile.TemporaryDirectory(prefix="sendonce-frozen-") as made:
        async with parts() as running:
            found = await freezes(running, Path(made), times, seed)
    facts = {
        "in_order": not any(each.sent_on_waking or each.twice for each in found),
        "freezes": len(found),
        "seed": seed,
        "lease_s": LEASE,
        "held_unsent": sum(each.held for each in found),
        "sent_on_waking": sum(each.sent_on_waking for each in found),
        "twice": found[-1].twice,
        **machine(),
    }
    lines = (f"  {each.held} held, {each.sent_on_waking} sent on waking" for each in found)
    return iter([*lines, facts])
