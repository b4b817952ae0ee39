"""One chaos from its beginning to its reckoning."""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from tests.chaos import acts, settling
from tests.chaos.tally import Tally, tally
from tests.chaos.upstream import upstream
from tests.chaos.world import FAKETIME, World, machine, world

# Accepted and the answer lost, accepted and no answer, not accepted, a bare 5xx.
RATES: Final = {"drop": 0.05, "timeout": 0.02, "reset": 0.02, "error": 0.01}
KILL_EVERY: Final = 2.0  # seconds
START: Final = 60.0  # seconds for the first worker to be ready


@dataclass(frozen=True, slots=True)
class Plan:
    """`minutes`: of the storm. `patience`: seconds for the world to settle after it."""

    events: int
    minutes: float
    seed: int
    workers: int = 3
    kill_every: float = KILL_EVERY
    patience: float = 900.0
    keep: Path | None = None  # where logs and configurations stay


@dataclass(frozen=True, slots=True)
class Report:
    plan: Plan
    tally: Tally
    done: Mapping[str, int]  # what was done to the world
    waited: float  # seconds that evidence was waited for, leaps included
    exits: Mapping[int, int]  # exit code -> workers that were stopped at the end
    pooled: bool
    took: float  # seconds, all of it
    last_words: Sequence[str]  # log lines of workers that ended by themselves, or badly

    @property
    def in_order(self) -> bool:
        return self.tally.in_order and set(self.exits) == {0}

    def facts(self) -> dict[str, Any]:
        told = asdict(self.tally)
        told["lost"] = {name: len(what) for name, what in self.tally.lost.items()}
        told["twice"] = len(self.tally.twice)
        told.pop("stories")
        return {
            "in_order": self.in_order,
            **{name: value for name, value in asdict(self.plan).items() if name != "keep"},
            **told,
            "done": dict(self.done),
            "evidence_waited_s": round(self.waited),
            "exits": dict(self.exits),
            "pgbouncer": self.pooled,
            "faketime": FAKETIME is not None,
            "seconds": round(self.took),
            **machine(),
        }


async def storm(plan: Plan) -> Report:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="sendonce-chaos-") as made:
        async with world(plan.keep or Path(made), plan.workers, plan.seed) as running:
            clock = await _weather(running, plan)
            exits = await _stopped(running)
            found = await tally(running)
            done = dict(sorted(running.counted.items()))
            took = time.monotonic() - began
            words = tuple(running.last_words)
            return Report(plan, found, done, clock.took, exits, running.pooled, took, words)


async def _weather(running: World, plan: Plan) -> settling.Clock:
    for hand in running.hands:
        hand.start()
    await running.hands[0].worker.ready(START)
    for number, double in enumerate(running.doubles.values()):
        await double.fail(RATES, plan.seed + number)
    async with upstream(running.kafka, running.topics, plan.seed) as publishing:
        flowing = asyncio.create_task(publishing.run(plan.events, plan.minutes * 60))
        await _break_things(running, plan)
        await settling.heal(running)
        await flowing
    return await settling.settle(running, plan.patience)


async def _break_things(running: World, plan: Plan) -> None:
    """Kill all the time, beside one act after the other; in the middle, everything comes again."""
    dice = random.Random(plan.seed)
    half = plan.minutes * 30
    for last in (False, True):
        killing = asyncio.create_task(acts.kill_on_and_on(running, dice, plan.kill_every))
        try:
            await _act_for(running, dice, half)
        finally:
            killing.cancel()
            with suppress(asyncio.CancelledError):
                await killing
        if not last:
            await acts.replay(running)


async def _act_for(running: World, dice: random.Random, seconds: float) -> None:
    """Each act once in a random order, and again; no act is broken off."""
    until = time.monotonic() + seconds
    while True:
        for act in dice.sample(acts.ACTS, len(acts.ACTS)):
            if time.monotonic() > until:
                return
            await act(running, dice)
            await asyncio.sleep(dice.uniform(0, 1))


async def _stopped(running: World) -> dict[int, int]:
    codes: dict[int, int] = {}
    for hand in running.hands:
        code = await hand.worker.stop() if hand.lives else -1
        if code:
            running.last_words += [f"{hand.number}: {line}" for line in hand.worker.lines()[-5:]]
        codes[code] = codes.get(code, 0) + 1
    return codes
