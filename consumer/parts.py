"""Settings to parts: how each room is built from the configuration. No part is started here."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import structlog

from consumer import catalogue, providers, webhooks
from consumer.catalogue import Catalogue, TopicRule
from consumer.events import decode
from consumer.guard import Guard
from consumer.intake.cluster import Cluster, Timing
from consumer.intake.kafka import Consumer
from consumer.intake.loop import Handle, Intake
from consumer.intake.positions import Edge, StartFrom
from consumer.providers.breaker import State
from consumer.providers.permits import Permits
from consumer.retry import Retry
from consumer.routes import Route, Routes
from consumer.rules import Rules
from consumer.settings.hooks import source

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from pydantic import SecretStr

    from consumer import settings as config
    from consumer.telemetry import Metrics
    from consumer.webhooks import Hook

log = structlog.get_logger("service")


def owner() -> str:
    """Name this process start. Never the pod: after a restart its rows would look like ours."""
    return secrets.token_hex(8)


def open_catalogue(settings: config.Settings) -> Catalogue:
    """Read and check the catalogue; raises `CatalogueErrors` with every problem."""
    return catalogue.load(
        settings.catalogue.path,
        senders=settings.addresses,
        providers=tuple(settings.providers),
        retention=settings.guard.retention,
        fingerprint_key=_bytes(settings.guard.fingerprint_key),
        decode=decode,
        topics={
            name: TopicRule(frozenset(topic.ignore), topic.only_listed)
            for name, topic in settings.topics.items()
        },
    )


def cluster(kafka: config.Kafka) -> Cluster:
    password = kafka.sasl_password
    return Cluster(
        ",".join(kafka.bootstrap_servers),
        kafka.security_protocol,
        kafka.sasl_mechanism or "PLAIN",
        kafka.sasl_username,
        password.get_secret_value if password else None,
        _text(kafka.ssl_cafile),
        _text(kafka.ssl_certfile),
        _text(kafka.ssl_keyfile),
        kafka.sasl_region,
    )


def timing(kafka: config.Kafka) -> Timing:
    return Timing(kafka.session_timeout, kafka.heartbeat_interval, kafka.drain_timeout)


def start_from(kafka: config.Kafka) -> StartFrom:
    start = kafka.start_from
    return Edge(start) if isinstance(start, str) else start


async def open_guard(settings: config.Settings, name: str, metrics: Metrics) -> Guard:
    return await Guard.open(
        settings.postgres.dsn.get_secret_value(),
        owner=name,
        lease=settings.guard.lease,
        retention=settings.guard.retention,
        environment=settings.safety.environment,
        pgbouncer=settings.postgres.pgbouncer,
        pool_size=settings.postgres.pool_size,
        on_batch=metrics.guard_batch,
        on_double=lambda row, _proof: _alarm_double(row.key, metrics),
    )


def _alarm_double(key: str, metrics: Metrics) -> None:
    metrics.doubles.inc()
    log.error("accepted twice", key=key, alert="double")


def hooks(settings: config.Settings) -> Mapping[str, Hook]:
    """Build the webhooks of all providers that have one, by name; none where nobody listens."""
    if settings.webhooks is None:
        return {}
    return webhooks.build(source(name, options) for name, options in settings.providers.items())


def routes(settings: config.Settings, metrics: Metrics, pushing: Container[str]) -> Routes:
    """Build every configured provider with its permits. Needs a running loop: permits wait.

    `pushing`: the names of those whose webhook is listened to.
    """
    return Routes(
        {
            name: _route(name, options, metrics, pushes=name in pushing)
            for name, options in settings.providers.items()
        }
    )


def _route(name: str, options: providers.Options, metrics: Metrics, *, pushes: bool) -> Route:
    def changed(provider: str, sender: str | None, state: State, error: str) -> None:
        metrics.breaker(provider, sender, state)
        tell = log.info if state is State.CLOSED else log.error
        tell("breaker", provider=provider, sender=sender, state=state.name.lower(), error=error)

    permits = Permits(name, concurrency=options.concurrency, rate=options.rate, on_change=changed)
    return Route(providers.build(name, options), permits, pushes)


def intake(kafka: config.Kafka, mails: Catalogue, handle: Handle) -> Intake:
    member = Consumer(
        cluster(kafka),
        group_id=kafka.group_id,
        topics=mails.topics,
        start_from=start_from(kafka),
        timing=timing(kafka),
    )
    return Intake(
        member,
        handle,
        high_topics=mails.high_topics,
        max_in_flight=kafka.max_in_flight,
        commit_every=kafka.commit_interval,
    )


def rules(safety: config.Safety) -> Rules:
    allow = None if safety.production else frozenset(map(str.lower, safety.allow))
    return Rules(allow, safety.redirect_to)


def retry(settings: config.Settings) -> Retry:
    return Retry(settings.retry.max_attempts, settings.retry.base, settings.retry.cap)


def _bytes(secret: SecretStr | None) -> bytes | None:
    return secret.get_secret_value().encode() if secret else None


def _text(path: object | None) -> str | None:
    return str(path) if path else None
