"""One world: drawn from a seed, run to its end, judged by the laws.

chaos     workers, records, providers and everything that can go wrong, for about a minute
calm      faults end; every worker stops in good order, new ones start; everything must settle
"""

from __future__ import annotations

from random import Random
from typing import Any

from consumer import retry
from consumer.events import decode
from consumer.model import Coordinates, Event, Mail, Record
from tests.simulation import laws
from tests.simulation.catalogue import Deploy
from tests.simulation.chaos import Chaos
from tests.simulation.database import SimDatabase
from tests.simulation.kafka import SimBroker
from tests.simulation.loop import PROCESS, START, WORLD, SimLoop, clocks_of
from tests.simulation.network import Faults, Network
from tests.simulation.post import Post
from tests.simulation.providers import Company, Ledger, Moods
from tests.simulation.scenario import Scenario, draw
from tests.simulation.story import Story
from tests.simulation.worker import Worker

LONGEST = 8 * 3600.0  # seconds until everything must have settled: three rounds, and then some
LOOK = 60.0  # seconds between two looks whether it has


class World:
    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = Random(seed)
        self.story = Story()
        self.loop = SimLoop(self.random)  # type: ignore[abstract] # what is never called
        self.network = Network(self.loop, self.random, self.story)
        self.scenario: Scenario = draw(self.random)
        self.setting = self.scenario.setting
        self.ledger = Ledger()
        self.outcomes: list[tuple[bytes | None, bytes]] = []
        self.post = Post(self)
        self.companies = {
            name: Company(name, kind, self.network, self.ledger, self._accepted)
            for name, kind in self.scenario.companies.items()
        }
        self.database = SimDatabase(self.network, lambda: laws.on_write(self))
        self.broker = SimBroker(
            self.network, self.scenario.partitions,
            lambda partition, before, offset: laws.on_commit(self, partition, before, offset),
        )  # fmt: skip
        self.workers: list[Worker] = []
        self.deploy = self.scenario.deploys[0]
        self.ended: set[Coordinates] = set()  # records whose own row was closed at some time
        self.failed: dict[str, Coordinates | None] = {}  # rows that stand as failed, for a record
        self.replayed: set[str | None] = set()  # keys of letters that a person made due
        self.asked_for: set[str] = set()  # keys of mails that a person had made again

    # ── Its course

    def run(self) -> None:
        """Raises `ViolationError`, or what the service or the simulation raised."""
        retry._JITTER.seed(self.seed)
        with clocks_of(self.loop):
            try:
                self._run()
            finally:
                self.loop.close()

    def _run(self) -> None:
        loop, scenario = self.loop, self.scenario
        for at, partition, record, hole in scenario.records:
            loop.later(at, self._produce, partition, record, hole)
        for _ in range(scenario.workers):
            loop.later(self.random.uniform(0, 1), self.start_worker)
        chaos = Chaos(self)
        chaos.begin()
        loop.run(START + scenario.lasts)
        chaos.end()
        self._calm_down()
        for worker in self.workers:
            worker.stop()
        loop.run(loop.now + 40.0)
        self._all_have_stopped()
        chaos.rewind()
        if self.random.random() < 0.4:
            self.deploy = self.scenario.deploys[1]
        if self.random.random() < 0.5:
            self.deploy = self.deploy.mended()
        for _ in range(self.random.choice((1, 2))):
            self.start_worker(calm=True)
        until = loop.now + LONGEST
        loop.run(loop.now + LOOK)
        while loop.now < until and not laws.settled(self):
            loop.run(loop.now + LOOK)
        laws.at_the_end(self)

    def _calm_down(self) -> None:
        self.network.faults = Faults()
        self.network.away_until = 0.0
        for company in self.companies.values():
            company.moods = Moods()
        for worker in self.workers:
            self.thaw(worker)

    def _all_have_stopped(self) -> None:
        for worker in self.workers:
            if not worker.process.dead:
                raise laws.broken("stuck", f"{worker.process.name} does not stop")

    # ── What happens in it

    def tell(self, who: str, what: str, *about: Any) -> None:
        self.story.tell(self.loop.now, who, what, *about)

    def _produce(self, partition: Any, record: Record, hole: int) -> None:
        self.tell("producer", "appends", f"{record.partition}/{record.offset}", record.value)
        self.broker.append(partition, record, hole=hole)

    def _accepted(self, taken: Any) -> None:
        laws.on_accepted(self, taken.key)
        self.post.push(taken)

    def start_worker(self, *, calm: bool = False) -> None:
        name = f"w{len(self.workers) + 1}"
        setting = self.scenario.calm_setting if calm else self.setting
        worker = Worker(self, name, self.deploy, setting)
        self.workers.append(worker)
        self.tell(name, "starts", f"deploy {self.deploy.number}")
        worker.start()

    def kill(self, worker: Worker) -> None:
        if not worker.process.dead:
            worker.process.kill()
            self.tell(worker.process.name, "KILLED")
            self.broker.silent(worker.process)

    def freeze(self, worker: Worker, seconds: float) -> None:
        if not (worker.process.dead or worker.process.frozen):
            worker.process.frozen = True
            self.tell(worker.process.name, "FROZEN", f"for {seconds:.1f} s")
            self.broker.silent(worker.process)
            self.loop.later(seconds, self.thaw, worker)

    def thaw(self, worker: Worker) -> None:
        if worker.process.frozen:
            worker.process.frozen = False
            self.tell(worker.process.name, "thaws")

    @property
    def alive(self) -> list[Worker]:
        return [worker for worker in self.workers if not worker.process.dead]

    def whose(self) -> Worker | None:
        """Return the worker whose callback is running, if it is one's."""
        process = PROCESS.get()
        if process is WORLD:
            return None
        return next((one for one in self.workers if one.process is process), None)

    # ── What the laws need to know of it

    def key_of(self, record: Record) -> str | None:
        """Return the key that the first deploy reads from it; None: no mail can come of it."""
        mail = self.read(record, self.scenario.deploys[0])
        return None if mail is None else mail.key

    def read(self, record: Record, deploy: Deploy | None = None) -> Mail | None:
        """Read a record as the running deploy does, or another one."""
        event = decode(record)
        if not isinstance(event, Event):
            return None
        mail = (deploy or self.deploy).read(record, event)
        return mail if isinstance(mail, Mail) else None

    def may_be_skipped(self, record: Record, now: float) -> bool:
        """Say whether it is too old then to become a mail; clocks may differ a little."""
        event = decode(record)
        if not isinstance(event, Event):
            return record.value is None
        mail_type = self.deploy.types.get(event.type)
        age = now - record.timestamp / 1000
        return mail_type is not None and age > mail_type.max_age - 60

    def copies_allowed(self, key: str) -> int:
        mail_type = self.deploy.types[self.database.store.db.rows[key].mail_type]
        return laws.policy_allows(mail_type.on_unknown, self.setting.max_attempts)
