"""Laws of publish: the file's own bytes, on the type's own topic, and a word on what to expect."""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection
from pathlib import Path

import pytest

from consumer.intake.cluster import Cluster, KafkaRefusedError, KafkaUnreachableError
from consumer.keys import send_key
from tests.unit.cli.conftest import EVENT, Sendonce

Sent = tuple[str, bytes | None, bytes | None, list[tuple[str, bytes]]]


class Broker:
    """Takes what is sent, or says no."""

    sent: list[Sent]
    error: Exception | None
    topics: dict[str, int]  # and their partitions

    @classmethod
    async def check(cls, _cluster: Cluster, topics: Collection[str]) -> dict[str, int]:
        if absent := topics - cls.topics.keys():
            raise KafkaRefusedError(f"topic {', '.join(absent)} does not exist")
        return cls.topics

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    async def open(self) -> None:
        if isinstance(self.error, KafkaUnreachableError):
            raise self.error

    async def send(self, *record: object) -> None:
        if self.error is not None:
            raise self.error
        self.sent.append(record)  # type: ignore[arg-type]  # what the command hands over

    async def close(self, *, budget: float) -> None:
        assert budget > 0


@pytest.fixture
def broker(configured: Path, monkeypatch: pytest.MonkeyPatch) -> type[Broker]:
    Broker.sent, Broker.error = [], None
    Broker.topics = {"orders": 1, "accounts": 1}
    monkeypatch.setattr("consumer.cli.publish.Producer", Broker)
    monkeypatch.setattr("consumer.cli.publish.check_topics", Broker.check)
    return Broker


def test_an_event_goes_to_its_types_topic_byte_for_byte(
    broker: type[Broker], sendonce: Sendonce
) -> None:
    result = sendonce("publish", "order.receipt", "--header", "traceparent=00-1", "--json")
    assert result.exit_code == 0, result.output
    assert broker.sent == [("orders", b"A-1", EVENT.encode(), [("traceparent", b"00-1")])]
    [told] = json.loads(result.stdout)
    assert told["idempotency_key"] == send_key("order.receipt", "A-1", "ada@example.org")
    assert told["expect"] == "order.receipt"


def test_its_columns_are_explained(sendonce: Sendonce) -> None:
    told = sendonce("publish", "--help").stdout
    for column in ("place", "topic", "expect", "key"):
        assert column in told.partition("Examples")[0]


def test_raw_publishes_what_nobody_can_read(broker: type[Broker], sendonce: Sendonce) -> None:
    Path("broken.bin").write_bytes(b"\xff{")
    result = sendonce("publish", "broken.bin", "--raw", "--topic", "orders", "--key", "k")
    assert result.exit_code == 0
    assert broker.sent == [("orders", b"k", b"\xff{", [])]
    assert "dead letter malformed" in result.stdout
    assert sendonce("publish", "broken.bin", "--raw").exit_code == 2


@pytest.mark.parametrize("topics", [{}, {"orders": 0}])
def test_a_topic_that_does_not_exist_is_told_before_anything_is_sent(
    broker: type[Broker], sendonce: Sendonce, topics: dict[str, int]
) -> None:
    broker.topics = topics
    result = sendonce("publish", "order.receipt")
    assert result.exit_code == 1
    assert "topic orders does not exist" in result.stderr
    assert broker.sent == []


def test_whom_the_allow_list_holds_back_is_told(broker: type[Broker], sendonce: Sendonce) -> None:
    config = Path("sendonce.toml")
    config.write_text(config.read_text().replace("@example.org", "@example.net"))
    [told] = json.loads(sendonce("publish", "order.receipt", "--json").stdout)
    assert told["expect"] == "will be skipped: not_allowed"
    assert told["idempotency_key"] == send_key("order.receipt", "A-1", "ada@example.org")
    config.write_text(config.read_text().replace('"test"', '"production"'))
    [told] = json.loads(sendonce("publish", "order.receipt", "--json").stdout)
    assert told["expect"] == "order.receipt"


def test_a_header_that_nobody_can_read_is_named_before_the_topics(
    broker: type[Broker], sendonce: Sendonce
) -> None:
    """An event that nobody can read would fit every topic: that is not what is wrong with it."""
    other = Path("schemas/order.sent")
    shutil.copytree("schemas/order.receipt", other)
    mail = other / "mail.toml"
    mail.write_text('on = "order.receipt"\n' + mail.read_text().replace("orders", "accounts"))
    Path("event.json").write_text(EVENT)
    result = sendonce("publish", "event.json", "--header", "sendonce-key=mykey")
    assert result.exit_code == 2
    assert "event.json:1: dead letter malformed: header sendonce-key is not" in result.stderr
    assert "several topics" not in result.stderr
    assert "several topics fit" in sendonce("publish", "event.json").stderr


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("order.reciept", "the type 'order.reciept', did you mean order.receipt?"),
        ("parcel", "the type 'parcel', known are order.receipt"),
        (None, "the event names no type; known are order.receipt"),
    ],
)
def test_a_type_that_nobody_listens_to_is_named_and_the_nearest_one(
    broker: type[Broker], sendonce: Sendonce, written: str | None, told: str
) -> None:
    event = {name: value for name, value in json.loads(EVENT).items() if name != "type"}
    Path("event.json").write_text(json.dumps(event | ({"type": written} if written else {})))
    result = sendonce("publish", "event.json")
    assert result.exit_code == 2
    assert told in " ".join(result.stderr.split())
    assert "--topic" in result.stderr
    assert broker.sent == []


@pytest.mark.parametrize(
    "error", [KafkaUnreachableError("no broker answers"), RuntimeError("topic is not there")]
)
def test_a_broker_that_says_no_ends_with_1(
    broker: type[Broker], sendonce: Sendonce, error: Exception
) -> None:
    broker.error = error
    result = sendonce("publish", "order.receipt")
    assert result.exit_code == 1
    assert str(error) in result.stderr
    assert "Traceback" not in result.output


def test_a_header_without_a_value_is_wrong_usage(broker: type[Broker], sendonce: Sendonce) -> None:
    assert sendonce("publish", "order.receipt", "--header", "nonsense").exit_code == 2
