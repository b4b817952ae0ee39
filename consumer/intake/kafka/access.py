"""Getting in: options of a client, what the cluster says no to, and the topics as they are."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Any

import structlog
from aiokafka.abc import AbstractTokenProvider
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.conn import collect_hosts, create_conn
from aiokafka.errors import (
    AuthenticationFailedError,
    AuthenticationMethodNotSupported,
    GroupAuthorizationFailedError,
    IllegalSaslStateError,
    KafkaError,
    SaslAuthenticationFailed,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
    UnsupportedSaslMechanismError,
    for_code,
)

from consumer.intake.cluster import (
    Cluster,
    KafkaRefusedError,
    KafkaUnreachableError,
    TopicsMissingError,
)

log = structlog.get_logger(__name__)

STEP_DEADLINE = 30.0  # seconds for one step of opening; aiokafka's own ends are longer, or none
_PROBE_TIMEOUT_MS = 5_000

_LOGIN = (
    AuthenticationFailedError,
    AuthenticationMethodNotSupported,
    IllegalSaslStateError,
    SaslAuthenticationFailed,
    UnsupportedSaslMechanismError,
)
_RIGHTS = (GroupAuthorizationFailedError, TopicAuthorizationFailedError)


def name_of(error: BaseException) -> str:
    """Return an error's name only: the texts of clients quote whatever they hold."""
    return type(error).__name__


def client_options(cluster: Cluster) -> dict[str, Any]:
    """Return what every aiokafka client of this cluster is made with.

    Raises KafkaRefusedError: unreadable certificates, or the extra for MSK is not installed.
    """
    options: dict[str, Any] = {
        "bootstrap_servers": cluster.bootstrap_servers,
        "client_id": "sendonce",
        "security_protocol": cluster.security_protocol,
        "ssl_context": _tls(cluster),
    }
    if not cluster.uses_sasl:
        return options
    options["sasl_mechanism"] = cluster.sasl_mechanism
    if cluster.sasl_mechanism == "OAUTHBEARER":
        return {**options, "sasl_oauth_token_provider": _MskToken(cluster.aws_region)}
    return {
        **options,
        "sasl_plain_username": cluster.sasl_username(),
        "sasl_plain_password": cluster.sasl_password(),
    }


def show_login(client: Any, cluster: Cluster) -> None:
    """Let the next connect of an aiokafka client use name and password as they are now."""
    # They are read at each connect, and nothing public sets them after the client was made.
    client._sasl_plain_username = cluster.sasl_username()  # noqa: SLF001 - read at each connect
    client._sasl_plain_password = cluster.sasl_password()  # noqa: SLF001 - read at each connect


def _tls(cluster: Cluster) -> Any:
    try:
        return cluster.tls.context() if cluster.uses_tls else None
    except OSError as error:
        raise KafkaRefusedError(f"TLS files: {error.strerror or name_of(error)}") from error


class _MskToken(AbstractTokenProvider):  # type: ignore[misc] # aiokafka ships no types
    """Signs in with the AWS identity of this process; each connect asks for a fresh token."""

    def __init__(self, region: str | None) -> None:
        try:
            from aws_msk_iam_sasl_signer import MSKAuthTokenProvider  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise KafkaRefusedError(
                "OAUTHBEARER needs the extra `msk` (aws-msk-iam-sasl-signer-python)"
            ) from error
        self._signer: Any = MSKAuthTokenProvider
        self._region = region

    async def token(self) -> str:
        token, _expires = await asyncio.to_thread(self._signer.generate_auth_token, self._region)
        return str(token)


@contextlib.asynccontextmanager
async def translated(cluster: Cluster) -> AsyncIterator[None]:
    """Turn what a client raises while opening into KafkaUnreachable- or KafkaRefusedError."""
    try:
        async with asyncio.timeout(STEP_DEADLINE):
            yield
    except _RIGHTS as error:
        raise KafkaRefusedError(f"no right: {error}") from error
    except (OSError, KafkaError) as error:  # TimeoutError is an OSError
        raise await _reason(cluster, error) from error


async def _reason(cluster: Cluster, error: BaseException) -> Exception:
    """Connect once more, by hand: a client says of a refused login only that it cannot connect."""
    for host, port, _ in collect_hosts(cluster.bootstrap_servers):
        try:
            options = client_options(cluster)
            del options["bootstrap_servers"]
            connection = await create_conn(
                host, port, request_timeout_ms=_PROBE_TIMEOUT_MS, **options
            )
        except _LOGIN as refusal:
            return KafkaRefusedError(_login_refused(cluster, refusal))
        except (OSError, KafkaError) as problem:
            error = problem
        else:
            connection.close()
    return KafkaUnreachableError(f"{cluster.bootstrap_servers}: {name_of(error)}")


def _login_refused(cluster: Cluster, error: BaseException) -> str:
    """Name the settings that a login is made of; a listener may also expect none, or another."""
    token = cluster.sasl_mechanism == "OAUTHBEARER"
    own = "kafka.sasl_region" if token else "kafka.sasl_username and kafka.sasl_password"
    return (
        f"login refused ({name_of(error)}): look at kafka.security_protocol,"
        f" kafka.sasl_mechanism, {own}"
    )


async def check_topics(cluster: Cluster, topics: Collection[str]) -> Mapping[str, int]:
    """Return topic -> number of partitions.

    Raises KafkaUnreachableError, and KafkaRefusedError naming every topic that is missing or that
    we may not read. A compacted topic is logged: a second event of one key would erase the first.
    """
    admin = AIOKafkaAdminClient(**client_options(cluster))
    async with translated(cluster):
        try:
            await admin.start()
            found = await admin.describe_topics(sorted(topics))
            await _warn_of_compaction(admin, topics)
        finally:
            await admin.close()
    return _counted(found)


def _counted(found: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    closed = _with_error(found, TopicAuthorizationFailedError)
    missing = _with_error(found, UnknownTopicOrPartitionError)
    problems = [f"no right to read topic {topic}" for topic in closed]
    if missing:
        absent = TopicsMissingError(missing)
        if not closed:
            raise absent
        problems.append(str(absent))
    if problems:
        raise KafkaRefusedError("; ".join(problems))
    return {topic["topic"]: len(topic["partitions"]) for topic in found}


def _with_error(found: Sequence[Mapping[str, Any]], kind: type[KafkaError]) -> list[str]:
    return [topic["topic"] for topic in found if for_code(topic["error_code"]) is kind]


async def _warn_of_compaction(admin: Any, topics: Collection[str]) -> None:
    wanted = [
        ConfigResource(ConfigResourceType.TOPIC, topic, {"cleanup.policy": ""}) for topic in topics
    ]
    try:
        answers = await admin.describe_configs(wanted)
    except (KafkaError, OSError):
        return  # an old broker, or no right to look: nothing depends on it
    for answer in answers:
        for _code, _text, _kind, topic, entries in answer.resources:
            if any("compact" in str(entry[1]) for entry in entries):
                log.warning("topic_is_compacted", topic=topic)
