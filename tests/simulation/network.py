"""Requests that travel: each takes effect or not, at once or later; its answer may be lost.

    client ──▶ effect ──▶ answer          as it should be
    client ──✗                            lost on the way: no effect
    client ──▶ effect ──✗                 the effect stands, the client does not know
    client ───────────✗──▶ effect         the effect comes when the client has long given up

The effect belongs to the world: it happens whatever became of the client meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any, Final, TypeVar

from tests.simulation.loop import PROCESS, Process, SimLoop
from tests.simulation.story import Story

T = TypeVar("T")


class Lost:
    """No answer came."""


LOST: Final = Lost()
LOOKS: Final = (
    "take due",
    "outcomes due",
    "news due",
    "stale",
)  # told only if they found something


@dataclass(slots=True)
class Faults:
    """How often, of all requests. The world turns them off in the end."""

    before: float = 0.0  # lost before it took effect
    after: float = 0.0  # lost after it
    late: float = 0.0  # takes effect after the client gave up
    slow: float = 0.0  # seconds instead of milliseconds


class Network:
    def __init__(self, loop: SimLoop, random: Random, story: Story) -> None:
        self.loop, self.random, self.story = loop, random, story
        self.faults = Faults()
        self.away_until = 0.0  # nobody gets through before

    def travel(self) -> float:
        """Return seconds for one way."""
        if self.random.random() < self.faults.slow:
            return self.random.uniform(0.05, 3.0)
        return self.random.uniform(0.0005, 0.005)

    def ask(
        self, who: str, what: str, effect: Callable[[], T], *about: Any, ordered: bool = False
    ) -> asyncio.Future[T | Lost]:
        """Send a request of the running process; its answer, or LOST.

        `ordered`: one connection for all of them, so none overtakes the next.
        """
        answer = self.loop.create_future()
        process = PROCESS.get()
        if process.dead:
            return answer  # the last words of a process that was killed in this very step
        request = _Request(self, answer, process, who, what, effect, about)
        going, fate = self.travel(), self.random.random()
        if self.loop.now + going < self.away_until:
            self._lose(answer, going)
        elif fate < (edge := self.faults.before):
            self.story.tell(self.loop.now, who, f"{what} lost", *about)
            self._lose(answer, going)
        elif fate < (edge := edge + self.faults.after):
            self.loop.later(going, request.take_effect)
            self._lose(answer, going)
        elif fate < edge + self.faults.late and not ordered:
            self._lose(answer, going)
            self.loop.later(going + self.random.choice((1.0, 10.0, 40.0)), request.take_effect)
        else:
            self.loop.later(going, request.take_effect_and_answer)
        return answer

    def _lose(self, answer: asyncio.Future[Any], going: float) -> None:
        """The client finds out at once (reset), or after its timeout."""
        noticed = self.random.choice((0.001, 0.01, 0.5, 9.0))
        self.loop.later(going + noticed, deliver, answer, LOST)


@dataclass(slots=True)
class _Request:
    network: Network
    answer: asyncio.Future[Any]
    process: Process
    who: str
    what: str
    effect: Callable[[], Any]
    about: tuple[Any, ...]

    def take_effect(self) -> None:
        self._take_effect(f"{self.what}, answer lost")

    def take_effect_and_answer(self) -> None:
        result = self._take_effect(self.what)
        self.network.loop.later(self.network.travel(), deliver, self.answer, result)

    def _take_effect(self, told: str) -> Any:
        network, result = self.network, self.effect()
        if result or self.what not in LOOKS:
            network.story.tell(network.loop.now, self.who, told, *self.about, "->", result)
        return result


def deliver(answer: asyncio.Future[Any], result: object) -> None:
    if not answer.done():
        answer.set_result(result)
