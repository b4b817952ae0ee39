"""An outcome is published when it is acked, however often the brokers have to be asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from consumer.intake.cluster import Cluster, KafkaRefusedError
from consumer.intake.publisher import OutcomePublisher
from tests.parts.kafka import Kafka


async def test_outcomes_arrive_once_each_many_at_a_time(
    kafka: Kafka, unique: Callable[[str], str]
) -> None:
    topic = unique("outcomes")
    await kafka.create_topic(topic, 2)
    publisher = OutcomePublisher(Cluster(kafka.bootstrap), topic)
    await publisher.open()
    await asyncio.gather(*(publisher.publish(b"%d" % n, b"{}") for n in range(1000)))
    await publisher.close()
    assert sum((await kafka.end_offsets(topic)).values()) == 1000


async def test_a_missing_topic_is_refused_at_the_start(kafka: Kafka) -> None:
    kafka.must_be_real()
    with pytest.raises(KafkaRefusedError, match=r"nowhere\.at\.all does not exist: create it"):
        await OutcomePublisher(Cluster(kafka.bootstrap), "nowhere.at.all").open()


async def test_publishing_outlasts_an_outage(mortal: Kafka) -> None:
    """Also one that is longer than the ack's deadline: the producer is made anew."""
    await mortal.create_topic("outcomes")
    publisher = OutcomePublisher(Cluster(mortal.bootstrap), "outcomes", ack_deadline=0.5)
    await publisher.open()
    await publisher.publish(b"before", b"{}")
    mortal.kill()
    waiting = asyncio.create_task(publisher.publish(b"during", b"{}"))
    done, _ = await asyncio.wait({waiting}, timeout=1.5)
    assert not done
    await asyncio.to_thread(mortal.start)
    async with asyncio.timeout(20):
        await waiting
    await publisher.publish(b"after", b"{}")
    await publisher.close()
    assert (await mortal.end_offsets("outcomes"))[0] >= 3


async def test_a_producer_beyond_repair_is_replaced(
    kafka: Kafka, unique: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = unique("outcomes")
    await kafka.create_topic(topic)
    publisher = OutcomePublisher(Cluster(kafka.bootstrap), topic)
    await publisher.open()
    broken = publisher._producer
    assert broken is not None

    async def fail(*_: object) -> None:
        raise AssertionError("as the client does when its state is wrong")

    monkeypatch.setattr(broken, "send", fail)
    await asyncio.gather(*(publisher.publish(b"k", b"{}") for _ in range(5)))
    assert publisher._producer is not broken
    await publisher.close()
    assert sum((await kafka.end_offsets(topic)).values()) == 5
