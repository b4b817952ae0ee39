"""Contradictions between settings that are each right by themselves.

A check is given the sections that could be read, and looks only at those, so that one mistake
does not hide another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from consumer.guard import renew_interval
from consumer.providers import AnyOptions
from consumer.settings.hooks import unusable
from consumer.settings.kafka import Kafka
from consumer.settings.problems import Place
from consumer.settings.sections import Admin, Guard, Retry, Safety, Webhooks

Contradiction: TypeAlias = tuple[Place, str]

ANY_PORT: Final = 0
EVERYWHERE: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared with, not listened on
LEASE_MARGIN: Final = 0.1  # of the lease: a statement on its way, a pool that is busy


def contradictions(parts: Mapping[str, Any]) -> Iterator[Contradiction]:
    """Yield what is wrong between the sections in `parts`, by name; nested ones are mappings."""
    providers: Mapping[str, AnyOptions] = parts.get("providers", {})
    if isinstance(kafka := parts.get("kafka"), Kafka):
        yield from _security(kafka)
    if isinstance(guard := parts.get("guard"), Guard):
        yield from _lease(guard, providers)
    if isinstance(retry := parts.get("retry"), Retry) and retry.base > retry.cap:
        yield (("retry", "base"), "must not be longer than retry.cap")
    if isinstance(safety := parts.get("safety"), Safety):
        yield from _safety(safety)
    if isinstance(listener := parts.get("webhooks"), Webhooks):
        yield from unusable(providers)
        if isinstance(admin := parts.get("admin"), Admin):
            yield from _ports(listener, admin)


def _security(kafka: Kafka) -> Iterator[Contradiction]:
    if kafka.uses_sasl:
        yield from _sasl(kafka)
    elif kafka.sasl_mechanism or kafka.sasl_username or kafka.sasl_password:
        yield (
            ("kafka", "security_protocol"),
            f"is {kafka.security_protocol}, so sasl_* is not used; say SASL_SSL or SASL_PLAINTEXT",
        )
    if not kafka.uses_tls and (kafka.ssl_cafile or kafka.ssl_certfile or kafka.ssl_keyfile):
        yield (
            ("kafka", "security_protocol"),
            f"is {kafka.security_protocol}, so ssl_* is not used; say SSL or SASL_SSL",
        )
    if (kafka.ssl_certfile is None) != (kafka.ssl_keyfile is None):
        yield (("kafka", "ssl_certfile"), "and kafka.ssl_keyfile are only of use together")


def _sasl(kafka: Kafka) -> Iterator[Contradiction]:
    protocol = kafka.security_protocol
    match kafka.sasl_mechanism:
        case None:
            yield (("kafka", "sasl_mechanism"), f"is needed with {protocol}")
        case "OAUTHBEARER":
            if kafka.sasl_region is None:
                yield (("kafka", "sasl_region"), "is needed with OAUTHBEARER: the AWS region")
        case mechanism:
            for name in ("sasl_username", "sasl_password"):
                if getattr(kafka, name) is None:
                    yield (("kafka", name), f"is needed with {mechanism}")


def _lease(guard: Guard, providers: Mapping[str, AnyOptions]) -> Iterator[Contradiction]:
    """The lease must outlive an attempt that starts just before the renewal after the next."""
    room = guard.lease * (1 - LEASE_MARGIN) - 2 * renew_interval(guard.lease)
    for name, options in providers.items():
        if options.timeout >= room:
            yield (
                ("providers", name, "timeout"),
                f"must be shorter than {room:.3g}s, which is what guard.lease leaves to an attempt",
            )


def _safety(safety: Safety) -> Iterator[Contradiction]:
    if safety.production and safety.redirect_to is not None:
        yield (
            ("safety", "redirect_to"),
            "must not stand in production: every mail would go there",
        )


def _ports(listener: Webhooks, admin: Admin) -> Iterator[Contradiction]:
    """One port can be listened on twice only where both name an address, and not the same one."""
    hosts = {listener.host, admin.host}
    if listener.port == admin.port != ANY_PORT and (len(hosts) == 1 or hosts & EVERYWHERE):
        yield (("webhooks", "port"), "must not be admin.port: each listens on its own")
