"""TLS and SASL as configured: who may come in does, who may not is told so."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from consumer.intake.cluster import (
    Cluster,
    KafkaRefusedError,
    KafkaUnreachableError,
    SaslMechanism,
    Tls,
)
from consumer.intake.kafka import Reader, RecordGoneError, check_topics
from consumer.intake.publisher import OutcomePublisher
from consumer.model import Coordinates
from tests.parts.kafka import Kafka, start_kafka


@pytest.fixture(scope="module")
def guarded(kafka: Kafka) -> Iterator[Kafka]:
    kafka.must_be_real()
    with start_kafka(sasl=True) as running:
        yield running


@pytest.fixture(autouse=True)
async def _goodbye() -> AsyncIterator[None]:
    """Wait for the end of TLS on every connection: aiokafka gives up one it could not log in with.

    A loop that ends first leaves an open socket to whichever test the collector runs in.
    """
    yield
    loop: Any = asyncio.get_running_loop()
    async with asyncio.timeout(10):
        while not all(each.is_closing() for each in loop._transports.values()):  # noqa: ASYNC110 - nobody announces it
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
async def test_login_over_tls(guarded: Kafka, mechanism: SaslMechanism) -> None:
    topic = f"outcomes.{mechanism}"
    await guarded.create_topic(topic)
    publisher = OutcomePublisher(_cluster(guarded, mechanism), topic)
    await publisher.open()
    await publisher.publish(b"k", b"{}")
    await publisher.close()
    assert await guarded.end_offsets(topic) == {0: 1}


async def test_login_without_tls(guarded: Kafka) -> None:
    await guarded.create_topic("plain.text")
    cluster = Cluster(
        guarded.sasl_plaintext,
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="SCRAM-SHA-256",
        sasl_username=lambda: "sendonce",
        sasl_password=lambda: "open sesame",
    )
    assert await check_topics(cluster, {"plain.text"}) == {"plain.text": 1}


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
async def test_a_wrong_password_is_a_refusal_that_waiting_does_not_mend(
    guarded: Kafka, mechanism: SaslMechanism
) -> None:
    cluster = _cluster(guarded, mechanism, password="closed")
    with pytest.raises(KafkaRefusedError, match=r"login refused .*kafka\.sasl_password") as refused:
        await check_topics(cluster, {"any"})
    assert "closed" not in str(refused.value)


async def test_a_refused_login_takes_no_record_for_gone(guarded: Kafka) -> None:
    """Of a row whose record is gone no mail is made: a rotated password is not that."""
    password = ["closed"]
    reader = Reader(_cluster(guarded, "PLAIN", password=password))
    try:
        with pytest.raises(KafkaRefusedError, match="login refused"):
            await reader.read(Coordinates("any", 0, 0, 0))
        password[0] = "open sesame"
        with pytest.raises(RecordGoneError, match="does not exist"):
            await reader.read(Coordinates("any", 0, 0, 0))
    finally:
        await reader.close()


# asyncio (3.11) leaves the socket of a failed handshake to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_a_server_that_our_authorities_do_not_know_is_not_trusted(guarded: Kafka) -> None:
    cluster = Cluster(guarded.sasl_ssl, security_protocol="SSL")
    with pytest.raises(KafkaUnreachableError, match="SSLCertVerificationError"):
        await check_topics(cluster, {"any"})
    gc.collect()  # here, where it is expected, and not in a later test


async def test_a_missing_authorities_file_is_named_as_such(guarded: Kafka) -> None:
    cluster = Cluster(guarded.sasl_ssl, security_protocol="SSL", tls=Tls("/no/such/file"))
    with pytest.raises(KafkaRefusedError, match="TLS files: No such file"):
        await check_topics(cluster, {"any"})


async def test_a_rotated_password_is_used_at_the_next_connect(guarded: Kafka) -> None:
    await guarded.create_topic("rotated")
    password = ["open sesame"]
    cluster = _cluster(guarded, "PLAIN", password=password)
    publisher = OutcomePublisher(cluster, "rotated")
    await publisher.open()
    await publisher.publish(b"k", b"{}")
    password[0] = "new"
    producer = publisher._producer
    assert producer is not None
    await publisher.publish(b"k", b"{}")
    client = producer._producer.client
    assert (client._sasl_plain_username, client._sasl_plain_password) == ("sendonce", "new")
    await publisher.close()


def _cluster(
    kafka: Kafka, mechanism: SaslMechanism, password: str | list[str] = "open sesame"
) -> Cluster:
    users = kafka.users
    assert users is not None
    return Cluster(
        kafka.sasl_ssl,
        security_protocol="SASL_SSL",
        sasl_mechanism=mechanism,
        sasl_username=lambda: users.name,
        sasl_password=lambda: password if isinstance(password, str) else password[0],
        tls=Tls(str(users.cafile)),
    )
