"""The start: builds what runs, in the order in which it is needed, and joins it.

What needs nobody comes first: a wrong catalogue is told before anything is waited for. Whatever was
opened is on the exit stack, so a start that fails half way leaves nothing behind.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, assert_never

import structlog

from consumer import endings, parts
from consumer.admin import AdminPages, Listener, PauseDesk
from consumer.aside import Aside
from consumer.endings import Ended, LetGo
from consumer.flight import Pilot
from consumer.flights import Flights
from consumer.guard import PostgresUnreachableError
from consumer.inquiry import Inquiry
from consumer.intake.cluster import KafkaRefusedError, KafkaUnreachableError, TopicsMissingError
from consumer.intake.kafka import Reader
from consumer.intake.publisher import OutcomePublisher
from consumer.line import Line
from consumer.newcomers import Newcomers
from consumer.patience import patiently
from consumer.privacy import privacy
from consumer.resolver import Resolver
from consumer.rotation import Rotation
from consumer.running import Running
from consumer.sweep import Sweep
from consumer.takeoff import Takeoff
from consumer.telemetry.tracing import tracing
from consumer.upkeep import Upkeep
from consumer.webhooks import WebhookReceiver

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping
    from contextlib import AsyncExitStack

    from consumer.catalogue import Catalogue
    from consumer.guard import Guard
    from consumer.intake.cluster import Cluster
    from consumer.intake.hold import Hold
    from consumer.intake.loop import Intake
    from consumer.model import Record
    from consumer.pauses import Pauses
    from consumer.reading import Reading
    from consumer.routes import Routes
    from consumer.settings import Followed, Settings
    from consumer.telemetry import Metrics
    from consumer.vitals import Vitals
    from consumer.webhooks import Hook

log = structlog.get_logger("service")

# Seconds that a stop waits for answers under way: little for a scraper, more for news.
SCRAPES = 2.0
NEWS = 5.0


@dataclass(frozen=True, slots=True)
class Delivery:
    """From an ending to a finished record: upstream hears first, then the offset may move."""

    metrics: Metrics
    publisher: OutcomePublisher | None = None

    async def finish(self, ending: Ended) -> None:
        """Return when the outcome record is acked, where outcomes are published at all."""
        if self.publisher is None or ending.outcome is None:
            return
        await self.publisher.publish(*endings.encode(ending.outcome))
        self.metrics.outcome(ending.outcome.status)

    def handle_with(self, line: Line) -> Callable[[Record, Hold], Awaitable[bool]]:
        async def handle(record: Record, hold: Hold) -> bool:
            ending = await line.handle(record, hold)
            match ending:
                case LetGo():
                    return False
                case Ended():
                    await self.finish(ending)
                    return True
                case _:
                    assert_never(ending)

        return handle


@dataclass(slots=True)
class Assembly:
    followed: Followed
    metrics: Metrics
    vitals: Vitals
    stack: AsyncExitStack
    owner: str = field(default_factory=parts.owner)
    settings: Settings = field(init=False)
    cluster: Cluster = field(init=False)

    def __post_init__(self) -> None:
        self.settings = self.followed.now
        self.cluster = parts.cluster(lambda: self.followed.now.kafka)

    async def start(self) -> Running:
        """Raises what `patiently` and the parts refuse with; see `service.REFUSALS`."""
        catalogue = parts.open_catalogue(self.settings)
        self.metrics.expect(
            topics=catalogue.topics, providers=self.settings.providers, mail_types=catalogue.types
        )
        hooks = parts.hooks(self.settings)
        rotation = Rotation(self.followed, hooks, self.cluster.tls)
        pauses = parts.pauses(catalogue)
        routes = parts.routes(self.settings, self.metrics, hooks, rotation.ask, pauses)
        desk = PauseDesk(self._admin_token, pauses)
        await self.listen(desk)
        guard = await self._guard(catalogue)
        await guard.shelf.keep(catalogue.editions)  # before the first row names one
        await self._obey(pauses, desk, guard)
        await self._hear(hooks, guard)
        await self._open(routes)
        delivery = Delivery(self.metrics, await self._publisher())
        takeoff = Takeoff(
            self._pilot(guard, routes), Aside(guard, routes.fuses), Flights(self.owner)
        )
        line = Line(self.reading(catalogue), guard, takeoff, tracing())
        kafka = self.settings.kafka
        intake = parts.intake(self.cluster, kafka, catalogue, delivery.handle_with(line))
        await self.wait_for_kafka(intake.open, partial(listeners, catalogue))
        self._watch(intake, guard, routes)
        inquiry = Inquiry(line, guard, takeoff)
        resolver = Resolver(guard, line, inquiry, delivery.finish, self.metrics)
        newcomers = Newcomers(guard.unread, line.reading, resolver.work)
        upkeep = Upkeep(guard, routes, self.metrics, catalogue.editions)
        sweep = self._sweep(guard)
        return Running(guard, routes, intake, resolver, sweep, newcomers, upkeep, rotation)

    def reading(self, catalogue: Catalogue) -> Reading:
        reading = parts.reading(lambda: self.followed.now, catalogue)
        self.stack.push_async_callback(reading.aclose)
        registry = self.vitals.registry = reading.registry
        if registry is not None:
            self.metrics.watch_registry(lambda: registry.away)
        return reading

    def _sweep(self, guard: Guard) -> Sweep:
        reader = Reader(self.cluster)
        self.stack.push_async_callback(reader.close)
        return Sweep(guard, reader)

    def _admin_token(self) -> str | None:
        token = self.followed.now.admin.token
        return None if token is None else token.get_secret_value()

    async def _obey(self, pauses: Pauses, desk: PauseDesk, guard: Guard) -> None:
        """Know what a person has stopped before anything is sent."""
        pauses.take(await guard.pauses.read())
        self.metrics.paused.watch(lambda: pauses.standing)
        desk.table = guard.pauses

    async def listen(self, desk: PauseDesk | None = None) -> None:
        """Listen early: a service that waits for its database is alive, and not ready."""
        admin = self.settings.admin
        health = self.vitals.health()
        pages = AdminPages(health, self.metrics).app(() if desk is None else desk.routes())
        listener = Listener(pages, "admin", admin.host, admin.port, closing=SCRAPES)
        await self._start(listener)
        log.info("listening", host=admin.host, port=listener.port)

    async def _start(self, listener: Listener) -> None:
        await listener.start()
        self.stack.push_async_callback(listener.close)

    async def _hear(self, hooks: Mapping[str, Hook], guard: Guard) -> None:
        """Listen for what providers tell by themselves, on a port that is no console's."""
        where = self.settings.webhooks
        if where is None:
            return
        counts = self.metrics.webhooks
        counts.expect(hooks)
        app = WebhookReceiver(hooks=hooks, on_notice=guard.hear, counts=counts).app()
        listener = Listener(app, "webhooks", where.host, where.port, closing=NEWS)
        await self._start(listener)
        log.info("listening for webhooks", host=where.host, port=listener.port, hooks=sorted(hooks))

    async def _guard(self, catalogue: Catalogue) -> Guard:
        private = privacy(self.settings, catalogue)
        guard = await patiently(
            "postgres",
            lambda: parts.open_guard(lambda: self.followed.now, self.owner, self.metrics, private),
            PostgresUnreachableError,
            self.settings.postgres.start_timeout,
        )
        self.stack.push_async_callback(guard.close)
        return guard

    async def _open(self, routes: Routes) -> None:
        for route in routes.by_name.values():
            await route.provider.open()
            self.stack.push_async_callback(route.provider.close)

    async def _publisher(self) -> OutcomePublisher | None:
        topic = self.settings.outcomes.topic
        if topic is None:
            return None
        publisher = OutcomePublisher(self.cluster, topic)
        await self.wait_for_kafka(publisher.open, lambda _: "outcomes.topic")
        self.stack.push_async_callback(publisher.close)
        return publisher

    async def wait_for_kafka(
        self, attempt: Callable[[], Awaitable[None]], named_by: Callable[[Collection[str]], str]
    ) -> None:
        """`named_by`: says where topics are named, should they be missing."""
        limit = self.settings.postgres.start_timeout
        try:
            await patiently("kafka", attempt, KafkaUnreachableError, limit)
        except TopicsMissingError as missing:
            where = named_by(missing.topics)
            raise KafkaRefusedError(f"{missing} (named by {where})") from missing

    def _pilot(self, guard: Guard, routes: Routes) -> Pilot:
        rules = parts.rules(self.settings)
        pilot = Pilot(guard, routes, rules, parts.retry(self.settings), self.metrics)
        self.stack.push_async_callback(pilot.fetcher.aclose)
        return pilot

    def _watch(self, intake: Intake, guard: Guard, routes: Routes) -> None:
        self.vitals.watch(intake, guard, routes)
        self.metrics.blown.watch(lambda: (fuse.names for fuse in routes.fuses.blown))
        self.metrics.watch(
            lag=lambda: {(p.topic, p.number): lag for p, lag in intake.watch().lag.items()},
            in_flight=lambda: intake.watch().in_flight,
            leases=lambda: guard.leases_held,
            kafka_away=lambda: intake.watch().away,
        )


def listeners(catalogue: Catalogue, topics: Collection[str]) -> str:
    """Name the folders of the catalogue that listen to any of the topics."""
    names = sorted(name for name, one in catalogue.types.items() if one.topic in topics)
    return f"{', '.join(names)} in the catalogue"
