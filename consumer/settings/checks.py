"""Contradictions between settings that are each right by themselves.

A check is given the sections that could be read, and looks only at those, so that one mistake
does not hide another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from consumer.guard import renew_interval
from consumer.providers import AnyOptions
from consumer.settings.hooks import unusable
from consumer.settings.kafka import Kafka
from consumer.settings.private import Privacy
from consumer.settings.problems import Place
from consumer.settings.sections import Admin, Guard, Registry, Retry, Safety, Webhooks

Contradiction: TypeAlias = tuple[Place, str]

ANY_PORT: Final = 0
SHADOW: Final = "shadow"  # ends the name of each group that a shadow reads in
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
        if isinstance(kafka, Kafka):
            yield from _group(kafka, safety)
    if isinstance(privacy := parts.get("privacy"), Privacy):
        yield from _privacy(privacy, parts.get("guard"))
    if isinstance(registry := parts.get("registry"), Registry):
        yield from _login(registry)
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


def _group(kafka: Kafka, safety: Safety) -> Iterator[Contradiction]:
    """A shadow commits what nobody has sent: never in a group that a live service goes on with."""
    in_shadow, named = safety.mode == "shadow", kafka.group_id.endswith(SHADOW)
    if in_shadow and not named:
        yield (
            ("kafka", "group_id"),
            f"must end in {SHADOW!r} while safety.mode is shadow: no live service reads in it",
        )
    if named and not in_shadow:
        yield (
            ("kafka", "group_id"),
            f"must not end in {SHADOW!r} while safety.mode is live: a shadow sends nothing",
        )


def _privacy(privacy: Privacy, guard: object) -> Iterator[Contradiction]:
    known = ", ".join(sorted(privacy.keys)) or "none"
    if privacy.current is None and len(privacy.keys) > 1:
        yield (("privacy", "current"), f"is needed: which key seals new letters; keys are {known}")
    if privacy.current is not None and privacy.current not in privacy.keys:
        yield (("privacy", "current"), f"names no key of privacy.keys; there are {known}")
    hashes = not isinstance(guard, Guard) or guard.fingerprint_key is not None
    if privacy.blank_recipients_after is not None and not hashes:
        yield (
            ("privacy", "blank_recipients_after"),
            "needs guard.fingerprint_key: what is blanked is found by a hash under it",
        )


def _login(registry: Registry) -> Iterator[Contradiction]:
    if (registry.username is None) != (registry.password is None):
        yield (("registry", "username"), "and registry.password are only of use together")
    if ":" in (registry.username or ""):
        yield (("registry", "username"), "must hold no colon: basic authentication knows none")
    if urlsplit(registry.url).username is not None:
        yield (("registry", "url"), "must hold no login: write registry.username and .password")


def _ports(listener: Webhooks, admin: Admin) -> Iterator[Contradiction]:
    """One port can be listened on twice only where both name an address, and not the same one."""
    hosts = {listener.host, admin.host}
    if listener.port == admin.port != ANY_PORT and (len(hosts) == 1 or hosts & EVERYWHERE):
        yield (("webhooks", "port"), "must not be admin.port: each listens on its own")
