"""Laws of SES's webhooks: configured topics, SNS's certificates, and the news of events."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from consumer.model import News
from consumer.webhooks.certificates import FetchError
from consumer.webhooks.hook import (
    Forged,
    Heard,
    Reading,
    Subscribed,
    Unavailable,
    Unreadable,
    WebhookSetupError,
)
from consumer.webhooks.ses import SesHook
from tests.unit.webhooks.signing import (
    ADDRESS,
    CERTIFICATE,
    KEY,
    REGION,
    TOPIC,
    certificate,
    confirmation,
    dumped,
    sns,
)

# https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-examples.html
BOUNCE: dict[str, Any] = {
    "eventType": "Bounce",
    "bounce": {
        "bounceType": "Permanent",
        "bounceSubType": "General",
        "bouncedRecipients": [{"emailAddress": ADDRESS, "status": "5.1.1"}],
        "timestamp": "2017-08-05T00:41:02.669Z",
    },
    "mail": {
        "timestamp": "2017-08-05T00:40:02.012Z",
        "messageId": "EXAMPLE7c191be45-e9aedb9a-02f9-4d12-a87d-dd0099a07f8a-000000",
        "destination": [ADDRESS],
        "headers": [{"name": "To", "value": ADDRESS}],
        "tags": {"ses:source-ip": ["192.0.2.0"], "sendonce_key": [KEY]},
    },
}


class Sns:
    """Answers what is fetched, and writes down who was asked."""

    def __init__(self, answer: bytes | None = None) -> None:
        self.answer = certificate() if answer is None else answer
        self.asked: list[str] = []

    async def __call__(self, url: str) -> bytes:
        self.asked.append(url)
        await asyncio.sleep(0)
        if not self.answer:
            raise FetchError("SNS answered HTTP 500")
        return self.answer


async def read(message: object, world: Sns | None = None) -> Reading:
    return await SesHook("ses", (TOPIC,), world or Sns()).read({}, dumped(message))


@pytest.mark.parametrize("version", ["1", "2"])
async def test_a_signed_event_of_a_configured_topic_is_heard(version: str) -> None:
    reading = await read(sns(BOUNCE, version=version))
    assert isinstance(reading, Heard)
    [notice] = reading.notices
    assert (notice.key, notice.provider, notice.news) == (KEY, "ses", News.BOUNCED)
    assert notice.provider_message_id == BOUNCE["mail"]["messageId"]
    assert notice.detail == "Permanent/General"
    assert notice.at is not None
    assert notice.at.isoformat() == "2017-08-05T00:41:02.669000+00:00"
    assert ADDRESS not in repr(notice)


async def test_a_changed_message_is_forged() -> None:
    assert isinstance(await read(sns(BOUNCE) | {"Message": "{}"}), Forged)


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b"\xff", dumped(BOUNCE)])
async def test_what_is_no_message_of_sns_is_forged(body: bytes) -> None:
    """Raw message delivery has no signature: it cannot be told from anybody's request."""
    world = Sns()
    assert isinstance(await SesHook("ses", (TOPIC,), world).read({}, body), Forged)
    assert world.asked == []


async def test_a_topic_that_is_not_configured_is_refused_however_well_it_is_signed() -> None:
    """Anybody can make a topic in SNS and subscribe our address to it. Nothing is fetched."""
    world = Sns()
    foreign = TOPIC.replace("123456789012", "210987654321")
    assert isinstance(await read(sns(BOUNCE, TopicArn=foreign), world), Forged)
    assert isinstance(await read(confirmation(topic=foreign), world), Forged)
    assert world.asked == []


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/SimpleNotificationService-0a0a.pem",
        f"http://sns.{REGION}.amazonaws.com/SimpleNotificationService-0a0a.pem",
        "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-0a0a.pem",
        f"https://sns.{REGION}.amazonaws.com.evil.example/SimpleNotificationService-0a0a.pem",
    ],
)
async def test_a_certificate_of_another_host_is_never_fetched(url: str) -> None:
    world = Sns()
    assert isinstance(await read(sns(BOUNCE, SigningCertURL=url), world), Forged)
    assert world.asked == []


async def test_a_certificate_is_fetched_once_however_many_need_it() -> None:
    world = Sns()
    hook = SesHook("ses", (TOPIC,), world)
    body = dumped(sns(BOUNCE))
    readings = await asyncio.gather(*(hook.read({}, body) for _ in range(20)))
    assert all(isinstance(reading, Heard) for reading in readings)
    assert isinstance(await hook.read({}, body), Heard)
    assert world.asked == [CERTIFICATE]


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"<html>no certificate</html>",
        certificate(days=-1),
        certificate(key=ec.generate_private_key(ec.SECP256R1())),
    ],
    ids=["unreachable", "html", "expired", "no RSA key"],
)
async def test_without_a_certificate_sns_shall_repeat(answer: bytes) -> None:
    world = Sns()
    hook = SesHook("ses", (TOPIC,), world)
    good, world.answer = world.answer, answer
    assert isinstance(await hook.read({}, dumped(sns(BOUNCE))), Unavailable)
    world.answer = good
    if b"BEGIN" not in answer:  # what was not fetched is not kept either
        assert isinstance(await hook.read({}, dumped(sns(BOUNCE))), Heard)


async def test_the_subscription_of_a_configured_topic_is_confirmed() -> None:
    world = Sns()
    message = confirmation()
    assert await read(message, world) == Subscribed(TOPIC)
    assert world.asked == [CERTIFICATE, message["SubscribeURL"]]


@pytest.mark.parametrize(
    "url",
    [
        f"https://evil.example/?Action=ConfirmSubscription&TopicArn={TOPIC}",
        f"https://sns.{REGION}.amazonaws.com/?Action=Publish&TopicArn={TOPIC}",
    ],
)
async def test_a_confirmation_elsewhere_is_not_visited(url: str) -> None:
    world = Sns()
    assert isinstance(await read(confirmation(url=url), world), Forged)
    assert world.asked == [CERTIFICATE]


async def test_an_unsigned_confirmation_is_not_visited() -> None:
    world = Sns()
    assert isinstance(await read(confirmation() | {"Token": "other"}, world), Forged)
    assert world.asked == [CERTIFICATE]


async def test_an_unsubscription_is_taken_note_of_and_not_undone() -> None:
    world = Sns()
    message = confirmation(Type="UnsubscribeConfirmation")
    assert await read(message, world) == Heard(others=1)
    assert world.asked == [CERTIFICATE]


def changed(**mail: object) -> dict[str, Any]:
    return BOUNCE | {"mail": BOUNCE["mail"] | mail}


OUR_HEADER = [{"name": "X-SES-Idempotency-Key", "value": KEY}]


@pytest.mark.parametrize(
    ("event", "news"),
    [
        (BOUNCE | {"eventType": "Send"}, News.ACCEPTED),
        (BOUNCE | {"eventType": "DeliveryDelay"}, News.ACCEPTED),
        (BOUNCE | {"eventType": "Delivery"}, News.DELIVERED),
        (BOUNCE | {"eventType": "Reject"}, News.BOUNCED),
        (BOUNCE | {"eventType": "Complaint"}, News.COMPLAINED),
        (BOUNCE | {"eventType": "Open"}, None),
        (BOUNCE | {"eventType": "Click"}, None),
        (BOUNCE | {"eventType": "Rendering Failure"}, None),
        (BOUNCE | {"eventType": "", "notificationType": "Bounce"}, News.BOUNCED),
        (changed(tags={}, headers=OUR_HEADER), News.BOUNCED),  # an identity's own notification
        (changed(tags={}), None),
        (changed(tags={"sendonce_key": KEY}), None),
        (changed(tags={"sendonce_key": []}, headers=None), None),
        (changed(tags=[], headers=[None, 7, {"name": 1}]), None),
        (changed(messageId=""), None),
        (BOUNCE | {"mail": None}, None),
        (BOUNCE | {"bounce": None}, News.BOUNCED),
    ],
)
async def test_news_is_what_proves_that_the_mail_was_taken(
    event: dict[str, Any], news: News | None
) -> None:
    reading = await read(sns(event))
    assert isinstance(reading, Heard)
    assert [notice.news for notice in reading.notices] == ([news] if news else [])


@pytest.mark.parametrize("text", ["", "Successfully validated SNS topic", "[]", "{}", "null"])
async def test_what_is_not_as_documented_is_unreadable(text: str) -> None:
    """SES itself sends a sentence to a topic when it is set up."""
    assert isinstance(await read(sns(text)), Unreadable)


@pytest.mark.parametrize("topic", ["mails", "", "arn:aws:sqs:eu-west-1:123456789012:mails"])
def test_a_topic_that_is_none_stops_the_start(topic: str) -> None:
    with pytest.raises(WebhookSetupError, match=r"providers\.mine\.webhook_topics"):
        SesHook("mine", (topic,))
