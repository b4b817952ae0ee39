"""Settings to parts: how each room is built from the configuration. No part is started here."""

from __future__ import annotations

import secrets
from functools import partial
from typing import TYPE_CHECKING

import structlog

from consumer import catalogue, providers, webhooks
from consumer.catalogue import Catalogue, TopicRule
from consumer.events import Decoder, Format, decode
from consumer.fuses import Fuses
from consumer.guard import Guard
from consumer.intake.cluster import Cluster, Timing, Tls
from consumer.intake.kafka import Consumer
from consumer.intake.loop import Handle, Intake
from consumer.intake.positions import Edge, StartFrom
from consumer.making import Making
from consumer.pauses import Pauses
from consumer.providers.breaker import State
from consumer.providers.permits import Permits
from consumer.reading import Reading
from consumer.registry import Access, Registry
from consumer.retry import Retry
from consumer.routes import Route, Routes
from consumer.rules import Rules
from consumer.settings.hooks import source

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from pydantic import SecretStr

    from consumer import settings as config
    from consumer.guard.pauses import Target
    from consumer.guard.privacy import Privacy
    from consumer.telemetry import Metrics
    from consumer.webhooks import Hook

log = structlog.get_logger("service")


def owner() -> str:
    """Name this process start. Never the pod: after a restart its rows would look like ours."""
    return secrets.token_hex(8)


def open_catalogue(settings: config.Settings) -> Catalogue:
    """Read and check the catalogue; raises `CatalogueError` with every problem."""
    return catalogue.load(
        settings.catalogue.path,
        senders=settings.addresses,
        providers={name: providers.carrier(one) for name, one in settings.providers.items()},
        retention=settings.guard.retention,
        fingerprint_key=_bytes(settings.guard.fingerprint_key),
        decode=decode,
        topics={
            name: TopicRule(frozenset(topic.ignore), topic.only_listed)
            for name, topic in settings.topics.items()
        },
    )


def cluster(now: Callable[[], config.Kafka]) -> Cluster:
    """`now`: the section as it is by now; name and password are asked for at each connect."""
    kafka = now()
    return Cluster(
        ",".join(kafka.bootstrap_servers),
        kafka.security_protocol,
        kafka.sasl_mechanism or "PLAIN",
        lambda: now().sasl_username,
        lambda: _secret(now().sasl_password),
        Tls(*map(_text, (kafka.ssl_cafile, kafka.ssl_certfile, kafka.ssl_keyfile))),
        kafka.sasl_region,
    )


def timing(kafka: config.Kafka) -> Timing:
    return Timing(kafka.session_timeout, kafka.heartbeat_interval, kafka.drain_timeout)


def decoder(settings: config.Settings, registry: Registry | None) -> Decoder:
    formats = {name: Format(topic.format) for name, topic in settings.topics.items()}
    return Decoder(None if registry is None else registry.known, formats)


def registry(now: Callable[[], config.Settings]) -> Registry | None:
    """Build the client of the schema registry, where one is configured; it connects when asked."""
    section = now().registry
    if section is None:
        return None
    login = partial(_login, now)
    return Registry(Access(section.url, login, section.ssl_cafile, section.timeout))


def _login(now: Callable[[], config.Settings]) -> tuple[str, str] | None:
    section = now().registry
    if section is None or section.username is None:
        return None
    return section.username, _secret(section.password) or ""


def reading(now: Callable[[], config.Settings], mails: Catalogue) -> Reading:
    settings, schemas = now(), registry(now)
    return Reading(Making(mails, rules(settings), decoder(settings, schemas)), schemas)


def start_from(kafka: config.Kafka) -> StartFrom:
    start = kafka.start_from
    return Edge(start) if isinstance(start, str) else start


async def open_guard(
    now: Callable[[], config.Settings], name: str, metrics: Metrics, privacy: Privacy
) -> Guard:
    """`now`: the configuration as it is by now; the login is asked for at each connect."""
    settings = now()

    def dsn() -> str:
        return now().postgres.dsn.get_secret_value()

    return await Guard.open(
        dsn,
        password=lambda: now().postgres.password_text,
        owner=name,
        lease=settings.guard.lease,
        retention=settings.guard.retention,
        environment=settings.safety.environment,
        pgbouncer=settings.postgres.pgbouncer,
        pool_size=settings.postgres.pool_size,
        on_batch=metrics.guard_batch,
        on_double=lambda row, _proof: _alarm_double(row.key, metrics),
        privacy=privacy,
    )


def _alarm_double(key: str, metrics: Metrics) -> None:
    metrics.doubles.inc()
    log.error("accepted twice", key=key, alert="double")


def hooks(settings: config.Settings) -> dict[str, Hook]:
    """Build the webhooks of all providers that have one, by name; none where nobody listens."""
    if settings.webhooks is None:
        return {}
    sources = (source(name, options) for name, options in settings.providers.items())
    return dict(webhooks.build(sources))


def routes(
    settings: config.Settings,
    metrics: Metrics,
    pushing: Container[str],
    on_blocked: Callable[[str], None] = lambda _: None,
    pauses: Pauses | None = None,
) -> Routes:
    """Build every configured provider with its permits. Needs a running loop: permits wait.

    `pushing`: the names of those whose webhook is listened to. `on_blocked`: told the provider's
    name at every answer that nothing may go out.
    """
    without = {name for name, topic in settings.topics.items() if not topic.fuse}
    pauses = pauses or Pauses()
    return Routes(
        {
            name: Route(
                providers.build(name, options),
                _permits(name, options, metrics, partial(on_blocked, name)),
                name in pushing,
            )
            for name, options in settings.providers.items()
        },
        pauses,
        Fuses(without, pauses.block),
    )


def pauses(mails: Catalogue) -> Pauses:
    """Who stopped it, and why, is in the table only: people write addresses there."""

    def tell(word: str, target: Target) -> None:
        log.warning(word, scope=target.scope, name=target.name)

    return Pauses(tuple(mails.types.values()), tell)


def _permits(
    name: str, options: providers.Options, metrics: Metrics, on_blocked: Callable[[], None]
) -> Permits:
    def changed(provider: str, sender: str | None, state: State, error: str) -> None:
        metrics.breaker(provider, sender, state)
        tell = log.info if state is State.CLOSED else log.error
        tell("breaker", provider=provider, sender=sender, state=state.name.lower(), error=error)

    return Permits(
        name,
        concurrency=options.concurrency,
        rate=options.rate,
        on_change=changed,
        on_blocked=on_blocked,
    )


def intake(place: Cluster, kafka: config.Kafka, mails: Catalogue, handle: Handle) -> Intake:
    member = Consumer(
        place,
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


def rules(settings: config.Settings) -> Rules:
    safety = settings.safety
    allow = None if safety.production else frozenset(map(str.lower, safety.allow))
    return Rules(allow, safety.redirect_to, settings.guard.retention)


def retry(settings: config.Settings) -> Retry:
    return Retry(settings.retry.max_attempts, settings.retry.base, settings.retry.cap)


def _bytes(secret: SecretStr | None) -> bytes | None:
    return secret.get_secret_value().encode() if secret else None


def _secret(secret: SecretStr | None) -> str | None:
    return secret.get_secret_value() if secret else None


def _text(path: object | None) -> str | None:
    return str(path) if path else None
