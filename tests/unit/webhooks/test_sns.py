"""Laws of SNS: what is signed, and whose certificate may be asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.x509 import load_pem_x509_certificate

from consumer.webhooks.sns import canonical, certificate_url, region, signed, subscribe_url
from tests.unit.webhooks.signing import CERTIFICATE, REGION, TOPIC, confirmation, sns, sns_key

SAMPLES = json.loads((Path(__file__).parent / "samples" / "sns.json").read_text())


def theirs() -> RSAPublicKey:
    key = load_pem_x509_certificate(SAMPLES["certificate"].encode()).public_key()
    assert isinstance(key, RSAPublicKey)
    return key


@pytest.mark.parametrize("message", SAMPLES["messages"], ids=lambda m: m["MessageId"][:8])
def test_the_samples_that_amazon_signed(message: dict[str, str]) -> None:
    """Both versions, with and without a subject, and both confirmations."""
    assert signed(message, theirs())
    assert certificate_url(message) == message["SigningCertURL"]
    for name in message.keys() & {"Message", "MessageId", "Subject", "Timestamp", "Token"}:
        assert not signed(message | {name: message[name] + "."}, theirs()), name
    assert not signed(message | {"TopicArn": TOPIC}, theirs())
    assert not signed(message, sns_key().public_key())


def test_the_string_to_sign_that_amazon_documents() -> None:
    """sns-verify-signature-of-message-verify-message-signature.html of the developer's guide."""
    message = {
        "Type": "Notification",
        "MessageId": "4d4dc071-ddbf-465d-bba8-08f81c89da64",
        "TopicArn": "arn:aws:sns:us-east-2:123456789012:s4-MySNSTopic-1G1WEFCOXTC0P",
        "Subject": "My subject",
        "Message": "My Test Message",
        "Timestamp": "2019-01-31T04:37:04.321Z",
        "SigningCertURL": "not signed",
    }
    assert (canonical(message) or b"").decode() == (
        "Message\nMy Test Message\n"
        "MessageId\n4d4dc071-ddbf-465d-bba8-08f81c89da64\n"
        "Subject\nMy subject\n"
        "Timestamp\n2019-01-31T04:37:04.321Z\n"
        "TopicArn\narn:aws:sns:us-east-2:123456789012:s4-MySNSTopic-1G1WEFCOXTC0P\n"
        "Type\nNotification\n"
    )


@pytest.mark.parametrize("version", ["1", "2"])
def test_both_versions_of_the_signature(version: str) -> None:
    key = sns_key().public_key()
    assert signed(sns("{}", version=version), key)
    assert signed(sns("{}", version=version, Subject="Ünïcode"), key)
    assert signed(confirmation(version=version), key)


@pytest.mark.parametrize(
    "changes",
    [
        {"Message": "{} "},
        {"Subject": "added"},
        {"SignatureVersion": "1"},
        {"SignatureVersion": "3"},
        {"SignatureVersion": 2},
        {"Signature": ""},
        {"Signature": "no base64"},
        {"Signature": None},
        {"Type": "SubscriptionConfirmation"},
        {"Type": "Invitation"},
        {"Type": ["Notification"]},
        {"MessageId": None},
        {"MessageId": 7},
    ],
)
def test_what_was_changed_is_not_signed(changes: dict[str, Any]) -> None:
    assert not signed({**sns("{}"), **changes}, sns_key().public_key())


def test_a_subject_cannot_stand_in_for_what_is_missing() -> None:
    message = {k: v for k, v in sns("{}", Subject="s").items() if k != "MessageId"}
    assert canonical(message) is None


PATH = "SimpleNotificationService-0a0a.pem"


@pytest.mark.parametrize(
    "url",
    [
        "",
        None,
        f"http://sns.{REGION}.amazonaws.com/{PATH}",
        f"https://sns.us-east-1.amazonaws.com/{PATH}",  # another region than the topic's
        f"https://sns.{REGION}.amazonaws.com.evil.example/{PATH}",
        f"https://sns.{REGION}.amazonaws.com.cnn/{PATH}",
        f"https://evil.example/sns.{REGION}.amazonaws.com/{PATH}",
        f"https://sns.{REGION}.amazonaws.com@evil.example/{PATH}",
        f"https://user@sns.{REGION}.amazonaws.com/{PATH}",
        f"https://sns.{REGION}.amazonaws.com:8443/{PATH}",
        f"https://evil.example#sns.{REGION}.amazonaws.com/{PATH}",
        f"https://evil.example\\@sns.{REGION}.amazonaws.com/{PATH}",
        f"https://evilsns.{REGION}.amazonaws.com/{PATH}",
        f"https://sns.{REGION}xamazonaws.com/{PATH}",
        f"https://bucket.s3.{REGION}.amazonaws.com/{PATH}",
        f"https://sns.{REGION}.amazonaws.com/../{PATH}",
        f"https://sns.{REGION}.amazonaws.com/%2e%2e/{PATH}",
        f"https://sns.{REGION}.amazonaws.com/{PATH}?Action=Publish",
        f"https://sns.{REGION}.amazonaws.com/?Action=Publish&x=/{PATH}",
        f"https://sns.{REGION}.amazonaws.com/other.pem",
        f"https://sns.{REGION}.amazonaws.com/{PATH}\n",
        f"https://sns.{REGION}.amazonaws.com\u3002evil.example/{PATH}",
        f"https://[sns.{REGION}.amazonaws.com/{PATH}",
        "file:///etc/passwd",
    ],
)
def test_a_certificate_lies_with_sns_or_it_is_none(url: object) -> None:
    assert certificate_url({"TopicArn": TOPIC, "SigningCertURL": url}) is None


@pytest.mark.parametrize(
    ("topic", "url"),
    [
        (TOPIC, CERTIFICATE),
        (
            "arn:aws-cn:sns:cn-north-1:123456789012:mails",
            f"https://sns.cn-north-1.amazonaws.com.cn/{PATH}",
        ),
        (
            "arn:aws-us-gov:sns:us-gov-west-1:123456789012:mails",
            f"https://sns.us-gov-west-1.amazonaws.com/{PATH}",
        ),
    ],
)
def test_a_certificate_of_sns_in_the_topics_region(topic: str, url: str) -> None:
    assert certificate_url({"TopicArn": topic, "SigningCertURL": url}) == url


@pytest.mark.parametrize(
    "topic",
    ["", "mails", "arn:aws:sqs:eu-west-1:123456789012:mails", "arn:aws:sns:eu-west-1:1:mails", "*"],
)
def test_no_topic_has_no_region(topic: str) -> None:
    assert region(topic) is None


HOST = f"https://sns.{REGION}.amazonaws.com"


@pytest.mark.parametrize(
    ("url", "fits"),
    [
        (f"{HOST}/?Action=ConfirmSubscription&TopicArn={TOPIC}&Token=23", True),
        (f"{HOST}?Action=ConfirmSubscription&TopicArn={TOPIC}&Token=23", True),
        (f"{HOST}/?Action=ConfirmSubscription&TopicArn={TOPIC}x&Token=23", False),
        (f"{HOST}/?Action=ConfirmSubscription&Token=23", False),
        (f"{HOST}/?Action=Publish&TopicArn={TOPIC}", False),
        (f"{HOST}/?Action=Publish&Action=ConfirmSubscription&TopicArn={TOPIC}", False),
        (f"{HOST}/x?Action=ConfirmSubscription&TopicArn={TOPIC}", False),
        (f"http://sns.{REGION}.amazonaws.com/?Action=ConfirmSubscription&TopicArn={TOPIC}", False),
        (f"https://evil.example/?Action=ConfirmSubscription&TopicArn={TOPIC}", False),
        ("", False),
    ],
)
def test_only_the_confirmation_of_this_very_topic_is_visited(url: str, fits: bool) -> None:  # noqa: FBT001 - a column of the table
    assert (subscribe_url({"TopicArn": TOPIC, "SubscribeURL": url}) is not None) == fits
