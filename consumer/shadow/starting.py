"""What runs in shadow mode, and what does not: no guard, no open provider, no outcomes.

Providers are built for the bytes that they would be given, and never opened; the tables are reached
through an onlooker; nobody resolves, sweeps, prunes the guard's rows or counts as a live worker.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import structlog

from consumer import parts
from consumer.assembly import listeners
from consumer.guard import PostgresUnreachableError
from consumer.guard.shadows import Onlooker
from consumer.patience import patiently
from consumer.rotation import Rotation
from consumer.shadow.walking import Shadow

if TYPE_CHECKING:
    from consumer.admin import Heartbeat
    from consumer.assembly import Assembly
    from consumer.intake.loop import Intake
    from consumer.routes import Routes
    from consumer.vitals import Vitals

log = structlog.get_logger("shadow")

TELL = 60.0  # seconds between two lines of what the records came to
PRUNE = 3600.0  # seconds between two looks for notes past retention
BREATH = 0.5  # seconds between two batches of pruning, so that notes come first
TICK = 0.25  # seconds between two beats


@dataclass(frozen=True, slots=True)
class Watching:
    """A started shadow."""

    intake: Intake
    shadow: Shadow
    onlooker: Onlooker
    retention: float
    rotation: Rotation
    routes: Routes

    async def keep(self) -> None:
        """Nothing has to: a shadow holds no lease."""
        await asyncio.Event().wait()

    def tasks(self, pulse: Heartbeat, vitals: Vitals) -> list[asyncio.Task[None]]:
        rotating = self.rotation.run(self.routes, vitals.refused)
        return [
            asyncio.create_task(rotating, name="rotation"),
            asyncio.create_task(self.intake.run(), name="intake"),
            asyncio.create_task(self._prune(), name="prune"),
            asyncio.create_task(self._beat(pulse), name="loop lag"),
        ]

    async def stop(self, budget: float) -> str | None:
        await self.intake.stop(budget)
        return None

    async def leave(self) -> None:
        self._tell()

    async def _prune(self) -> None:
        while True:
            deleted = await self.onlooker.prune(self.retention)
            await asyncio.sleep(BREATH if deleted else PRUNE)

    async def _beat(self, pulse: Heartbeat) -> None:
        told = time.monotonic()
        while True:
            pulse.beat()
            await asyncio.sleep(TICK)
            if time.monotonic() - told >= TELL:
                told = time.monotonic()
                self._tell()

    def _tell(self) -> None:
        log.info("in shadow", **{would.value: n for would, n in self.shadow.counts.items()})


async def start(assembly: Assembly) -> Watching:
    """Start as the service does, less all that writes or sends. Raises what it raises."""
    settings, metrics = assembly.settings, assembly.metrics
    catalogue = parts.open_catalogue(settings)
    metrics.expect(
        topics=catalogue.topics, providers=settings.providers, mail_types=catalogue.types
    )
    routes = parts.routes(settings, metrics, pushing=())
    await assembly.listen()
    onlooker = await _onlooker(assembly)
    providers = {name: route.provider for name, route in routes.by_name.items()}
    shadow = Shadow(assembly.reading(catalogue), onlooker, providers)
    assembly.stack.push_async_callback(shadow.fetcher.aclose)
    intake = parts.intake(assembly.cluster, settings.kafka, catalogue, shadow.handle)
    await assembly.wait_for_kafka(intake.open, partial(listeners, catalogue))
    _watch(assembly, intake, onlooker, routes)
    log.warning("in shadow: nothing is claimed, sent or published", group=settings.kafka.group_id)
    rotation = Rotation(assembly.followed, {}, assembly.cluster.tls)
    return Watching(intake, shadow, onlooker, settings.guard.retention, rotation, routes)


async def _onlooker(assembly: Assembly) -> Onlooker:
    settings, followed = assembly.settings, assembly.followed

    def dsn() -> str:
        return followed.now.postgres.dsn.get_secret_value()

    onlooker = await patiently(
        "postgres",
        lambda: Onlooker.open(
            dsn,
            password=lambda: followed.now.postgres.password_text,
            environment=settings.safety.environment,
            on_batch=assembly.metrics.guard_batch,
            pgbouncer=settings.postgres.pgbouncer,
        ),
        PostgresUnreachableError,
        settings.postgres.start_timeout,
    )
    assembly.stack.push_async_callback(onlooker.close)
    return onlooker


def _watch(assembly: Assembly, intake: Intake, onlooker: Onlooker, routes: Routes) -> None:
    assembly.vitals.watch(intake, onlooker, routes)
    assembly.metrics.watch(
        lag=lambda: {(p.topic, p.number): lag for p, lag in intake.watch().lag.items()},
        in_flight=lambda: intake.watch().in_flight,
        leases=lambda: 0,
        kafka_away=lambda: intake.watch().away,
    )
