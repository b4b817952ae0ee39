"""One worker: the real line, resolver, sweep and intake over simulated parts.

Joined as `consumer.assembly` joins them, and stopped as `consumer.service` stops them.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from consumer.aside import Aside
from consumer.assembly import Delivery
from consumer.flight import Pilot
from consumer.flights import Flights
from consumer.inquiry import Inquiry
from consumer.intake.loop import Intake
from consumer.line import Line
from consumer.making import Making
from consumer.providers.permits import Permits
from consumer.reading import Reading
from consumer.resolver import Resolver
from consumer.retry import Retry
from consumer.routes import Route, Routes
from consumer.rules import Rules
from consumer.sweep import Sweep
from consumer.takeoff import Takeoff
from consumer.telemetry.tracing import Silent
from tests.simulation.adapters import SimProvider
from tests.simulation.consumer import SimConsumer
from tests.simulation.guard import SimGuard
from tests.simulation.kafka import SimPublisher, SimReader
from tests.simulation.loop import Process

if TYPE_CHECKING:
    from tests.simulation.catalogue import Deploy
    from tests.simulation.world import World

BUDGET = 20.0  # seconds of a stop


class Uncounted:
    """Metrics: nobody looks at them here."""

    def __init__(self) -> None:
        self.fenced = self.incomparable = self

    def inc(self) -> None: ...
    def claim(self, *_: object) -> None: ...
    def attempt(self, *_: object) -> None: ...
    def outcome(self, *_: object) -> None: ...
    def record_ended(self, *_: object) -> None: ...
    def append_to_attempt(self, *_: object) -> None: ...


@dataclass(frozen=True, slots=True)
class Setting:
    """How the workers of a world are configured. Times in seconds."""

    lease: float = 30.0
    max_attempts: int = 4
    in_flight: int = 384
    per_partition: int = 256
    commit_every: float = 1.0
    outcomes: bool = True
    clock_error: float = 0.0  # of the wall clock, by which ages are counted


class Worker:
    def __init__(self, world: World, name: str, deploy: Deploy, setting: Setting) -> None:
        self.process = Process(name)
        self.guard: SimGuard | None = None
        self._world, self._deploy, self._setting = world, deploy, setting
        self._stop = asyncio.Event()

    def start(self) -> None:
        loop = self._world.loop
        loop.add(self.process)
        loop.start(self.process, self._serve())

    def stop(self) -> None:
        """SIGTERM."""
        self._stop.set()

    async def _serve(self) -> None:
        setting = self._setting
        self.guard = guard = SimGuard(self._world.database, self.process.name, setting.lease)
        kept = self._deploy.editions()
        self._world.database.editions |= {edition.digest: edition for edition in kept}
        line, inquiry, delivery = self._line(guard)
        resolver = Resolver(cast("Any", guard), line, inquiry, delivery.finish, _METRICS)
        intake = Intake(
            cast("Any", SimConsumer(self._world.broker)),
            delivery.handle_with(line),
            max_in_flight=setting.in_flight,
            high_in_flight=setting.in_flight,
            per_partition=setting.per_partition,
            commit_every=setting.commit_every,
        )
        await intake.open()
        sweep = Sweep(cast("Any", guard), cast("Any", SimReader(self._world.broker)))
        await self._work(guard, intake, resolver, sweep)

    def _line(self, guard: SimGuard) -> tuple[Line, Inquiry, Delivery]:
        setting, world, real = self._setting, self._world, cast("Any", guard)
        error = timedelta(seconds=setting.clock_error)
        rules = Rules(now=lambda: datetime.fromtimestamp(world.loop.now, UTC) + error)
        retry = Retry(max_attempts=setting.max_attempts)
        pilot = Pilot(real, self._routes(), rules, retry, _METRICS)
        takeoff = Takeoff(pilot, Aside(real), Flights(self.process.name))
        line = Line(Reading(Making(cast("Any", self._deploy), rules)), real, takeoff, Silent())
        publisher = SimPublisher(world.network, world.outcomes) if setting.outcomes else None
        return line, Inquiry(line, real, takeoff), Delivery(_METRICS, cast("Any", publisher))

    def _routes(self) -> Routes:
        routes = {}
        for company in self._world.companies.values():
            account = self._deploy.account
            provider = SimProvider(company, self._world.network, account)
            permits = Permits(company.name, concurrency=provider.concurrency)
            routes[company.name] = Route(cast("Any", provider), permits, company.kind.pushes)
        return Routes(routes)

    async def _work(
        self, guard: SimGuard, intake: Intake, resolver: Resolver, sweep: Sweep
    ) -> None:
        stop = asyncio.create_task(self._stop.wait())
        renewals = asyncio.create_task(guard.renew_forever())
        parts: list[Any] = [intake.run(), resolver.run(), sweep.run()]
        tasks = [asyncio.create_task(part) for part in parts]
        await asyncio.wait([stop, renewals, *tasks], return_when=asyncio.FIRST_COMPLETED)
        for task in (renewals, *tasks):
            if task.done():
                task.result()  # a part that ended by itself is a defect
                raise RuntimeError("a part ended by itself")
        resolver.stop()
        await intake.stop(BUDGET)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=2.0)
        await guard.close()
        self._world.tell(self.process.name, "stopped")
        self.process.kill()


_METRICS: Any = Uncounted()
