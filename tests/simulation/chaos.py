"""What goes wrong, and when: at a moment, or right after something that happened.

The second is what finds things: a worker is killed or frozen after its statement took effect and
before it hears so, after its first byte left, before its commit arrives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from random import Random
from typing import TYPE_CHECKING

from tests.simulation.desk import Desk
from tests.simulation.network import Faults
from tests.simulation.providers import Moods

if TYPE_CHECKING:
    from tests.simulation.providers import Company
    from tests.simulation.worker import Worker
    from tests.simulation.world import World

FREEZES = (0.5, 5.0, 12.0, 32.0, 60.0, 200.0)  # seconds: around session, lease, and evidence
DUELS = 0.1  # of all worlds
MOMENTS = (
    "claim", "first byte", "ACCEPTED", "answers", "record", "next attempt", "start round", "commit",
    "outcome", "take due", "look up", "prove", "put off", "abandon", "park", "park too", "hear",
    "renew", "look", "generation", "outcome told", "share fate", "claim lost", "record lost",
)  # fmt: skip
OFTEN = (0.03, 0.1, 0.3)


class Chaos:
    def __init__(self, world: World) -> None:
        self._world, self._random = world, world.random
        self._running = True
        self._desk = Desk(world)

    def begin(self) -> None:
        world, random = self._world, self._random
        if random.random() < 0.05:
            return  # a quiet day
        world.network.faults = self._draw_faults()
        for company in world.companies.values():
            company.moods = self._draw_moods()
        for _ in range(random.choice((1, 2, 4, 8))):
            drawn = random.random()
            if drawn < 0.3:
                world.loop.later(random.uniform(0, world.scenario.lasts), self._act, None)
            elif drawn < 0.5:
                world.story.when(random.randint(3, 120), self._act_on)
            else:
                times = random.choice((1, 1, 1, 2, 3, 5))
                world.story.when_told(random.choice(MOMENTS), times, self._act_on)

        if Random(world.seed).random() < DUELS:
            world.story.when_told(random.choice(("claim", "next attempt")), 1, self._duel)

    def _duel(self, who: str) -> None:
        """Freeze who has just been given the right to send, until all evidence says it did not."""
        if not self._running:
            return
        for worker in self._world.alive:
            if worker.process.name == who:
                self._world.freeze(worker, FREEZES[-1])

    def end(self) -> None:
        self._running = False

    def rewind(self) -> None:
        """The group's offsets are set back while nobody is there: everything is read again."""
        world = self._world
        if self._random.random() < 0.2:
            world.tell("operator", "rewinds")
            for partition in world.broker.committed:
                world.broker.committed[partition] = world.broker.logs[partition].gone

    # ── Rates

    def _draw_faults(self) -> Faults:
        return Faults(*(self._rate(0.4) for _ in fields(Faults)))

    def _draw_moods(self) -> Moods:
        return Moods(*(self._rate(0.3) for _ in fields(Moods)))

    def _rate(self, chance: float) -> float:
        return self._random.choice(OFTEN) if self._random.random() < chance else 0.0

    # ── Acts

    def _act_on(self, who: str) -> None:
        """Something happened: whom it concerns is hit, at once, or after the next few steps."""
        world = self._world
        named = (one for one in world.alive if one.process.name == who)
        self._act(world.whose() or next(named, None))

    def _act(self, worker: Worker | None) -> None:
        world, random = self._world, self._random
        if not self._running:
            return
        if worker is None:
            if not world.alive:
                return
            worker = random.choice(world.alive)
        acts: tuple[Callable[[Worker], None], ...] = (
            self._kill, self._kill, self._kill, self._freeze, self._freeze, self._freeze,
            self._rebalance, self._stop, self._cut_off, self._deploy, self._deploy, self._outage,
            self._retention, self._person, self._person,
        )  # fmt: skip
        random.choice(acts)(worker)

    def _kill(self, worker: Worker) -> None:
        self._world.kill(worker)
        self._restart_later()

    def _restart_later(self) -> None:
        if self._random.random() < 0.8:
            self._world.loop.later(self._random.choice((0.1, 5.0, 20.0)), self._start)

    def _start(self) -> None:
        if self._running:
            self._world.start_worker()

    def _freeze(self, worker: Worker) -> None:
        longest = self._world.scenario.lasts > FREEZES[-1] and self._random.random() < 0.5
        seconds = FREEZES[-1] if longest else self._random.choice(FREEZES)
        seconds *= self._random.uniform(0.8, 1.2)
        self._world.freeze(worker, seconds)

    def _rebalance(self, worker: Worker) -> None:
        self._world.tell("broker", "rebalances")
        self._world.broker.rebalance()

    def _stop(self, worker: Worker) -> None:
        self._world.tell(worker.process.name, "SIGTERM")
        worker.stop()
        self._restart_later()

    def _cut_off(self, worker: Worker) -> None:
        seconds = self._random.choice((0.5, 5.0, 35.0))
        self._world.tell("network", "nobody gets through", f"for {seconds} s")
        self._world.network.away_until = self._world.loop.now + seconds

    def _deploy(self, worker: Worker) -> None:
        """A rolling one: this worker goes, and comes back with the next release."""
        self._world.deploy = self._world.scenario.deploys[1]
        self._stop(worker)

    def _outage(self, worker: Worker) -> None:
        """A provider has one trouble only, and with every request."""
        world, random = self._world, self._random
        company = random.choice(list(world.companies.values()))
        before, mood = company.moods, random.choice(fields(Moods)).name
        seconds = random.choice((3.0, 30.0, 300.0))
        world.tell(company.name, "OUTAGE", mood, f"for {seconds} s")
        company.moods = Moods(**{mood: 1.0})
        world.loop.later(seconds, self._over, company, before)

    def _over(self, company: Company, before: Moods) -> None:
        company.moods = before if self._running else Moods()

    def _retention(self, worker: Worker) -> None:
        """Committed records may be gone when somebody wants to read them again."""
        for partition, log in self._world.broker.logs.items():
            committed = self._world.broker.committed.get(partition, 0)
            log.gone = max(log.gone, committed if self._random.random() < 0.5 else 0)
        self._world.tell("broker", "retention")

    def _person(self, worker: Worker) -> None:
        self._desk.act()
