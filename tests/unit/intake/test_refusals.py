"""A refusal of the cluster says what to do, and nothing else of the topics is hidden by it."""

from __future__ import annotations

import pytest
from aiokafka.errors import (
    IllegalSaslStateError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)

from consumer.intake.cluster import Cluster, KafkaRefusedError, SaslMechanism, TopicsMissingError
from consumer.intake.kafka import access

GONE = UnknownTopicOrPartitionError.errno
CLOSED = TopicAuthorizationFailedError.errno


def _told(*errors: int) -> KafkaRefusedError:
    found = [{"topic": f"t{n}", "error_code": code} for n, code in enumerate(errors)]
    with pytest.raises(KafkaRefusedError) as refused:
        access._counted(found)
    return refused.value


def test_missing_topics_are_to_be_created() -> None:
    one = _told(GONE)
    assert str(one) == "topic t0 does not exist: create it"
    both = _told(GONE, GONE)
    assert isinstance(both, TopicsMissingError)
    assert both.topics == {"t0", "t1"}
    assert str(both) == "topic t0 does not exist; topic t1 does not exist: create them"


def test_a_topic_that_may_not_be_read_is_not_merely_missing() -> None:
    refused = _told(GONE, CLOSED)
    assert not isinstance(refused, TopicsMissingError)
    assert str(refused) == "no right to read topic t1; topic t0 does not exist: create it"


@pytest.mark.parametrize(
    ("mechanism", "settings"),
    [
        ("PLAIN", "kafka.sasl_mechanism, kafka.sasl_username and kafka.sasl_password"),
        ("OAUTHBEARER", "kafka.sasl_mechanism, kafka.sasl_region"),
    ],
)
def test_a_refused_login_names_its_settings(mechanism: SaslMechanism, settings: str) -> None:
    cluster = Cluster("h:1", security_protocol="SASL_SSL", sasl_mechanism=mechanism)
    assert access._login_refused(cluster, IllegalSaslStateError("s3cret")) == (
        f"login refused (IllegalSaslStateError): look at kafka.security_protocol, {settings}"
    )
