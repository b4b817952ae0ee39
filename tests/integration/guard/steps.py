"""Random steps on both guards. A step is a name and a seed: what it does depends on what stands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from tests.integration.guard import steps_letters as letters
from tests.integration.guard import steps_rows as rows
from tests.integration.guard.twins import Twins

Go: TypeAlias = Callable[[Twins, Random], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    seed: int

    async def run(self, twins: Twins) -> str:
        """Take the step; return what it came to, for a person to read."""
        return await STEPS[self.name][1](twins, Random(self.seed))


def draw(random: Random) -> Step:
    names = list(STEPS)
    [name] = random.choices(names, weights=[STEPS[name][0] for name in names])
    return Step(name, random.getrandbits(32))


STEPS: dict[str, tuple[float, Go]] = {
    "tick": (10, rows.tick),
    "look": (3, rows.look),
    "claim": (10, rows.claim),
    "take failed": (4, rows.take_failed),
    "take open": (8, rows.take_open),
    "rob": (4, rows.rob),
    "claim together": (4, rows.claim_together),
    "start round": (5, rows.start_round),
    "next attempt": (6, rows.next_attempt),
    "record": (18, rows.record),
    "record together": (4, rows.record_together),
    "renew": (3, rows.renew_some),
    "park": (3, letters.park),
    "park too": (4, letters.park_too),
    "abandon": (5, letters.abandon),
    "orphan": (2, letters.orphan),
    "take due": (4, letters.take_due),
    "put off": (4, letters.put_off),
    "share fate": (2, letters.share_fate),
    "replayed": (2, letters.replayed),
    "wait for deploy": (1, letters.wait_for_deploy),
    "prove": (1, letters.prove),
    "hear": (3, letters.hear),
    "outcomes due": (2, letters.outcomes_due),
    "outcome told": (2, letters.outcome_told),
    "news": (2, letters.news),
    "stale": (3, letters.stale),
    "prune": (1, rows.prune),
    "month": (0.5, rows.month),
    "beat": (1, letters.beat),
    "make due": (3, letters.make_due),
    "discard": (2, letters.discard),
    "discard letter": (1, letters.discard_letter),
    "resend": (3, letters.resend),
    "bring in": (2, rows.bring_in),
}
