"""Amazon SES: its events reach us through an SNS topic.

https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html

Only configured topics are listened to: anybody can make a topic in SNS, subscribe our address to it
and have it signed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import structlog

from consumer.model import KEY_FIELD, News, Notice
from consumer.webhooks import sns
from consumer.webhooks.bodies import about, code, heard, inside, instant, members, text
from consumer.webhooks.certificates import Certificates, Fetch, FetchError, fetch
from consumer.webhooks.hook import (
    Forged,
    Heard,
    Reading,
    Subscribed,
    Unavailable,
    Unreadable,
    WebhookSetupError,
)

log = structlog.get_logger("webhooks")

KEY_HEADER: Final = "x-ses-idempotency-key"  # where an identity's own notifications bring no tags

NEWS: Final[Mapping[str, News]] = {
    "Send": News.ACCEPTED,
    "DeliveryDelay": News.ACCEPTED,
    "Delivery": News.DELIVERED,
    "Bounce": News.BOUNCED,
    "Reject": News.BOUNCED,  # taken, found to hold a virus, not delivered
    "Complaint": News.COMPLAINED,
}


class SesHook:
    challenge = None

    def __init__(self, name: str, topics: Iterable[str], fetched_by: Fetch = fetch) -> None:
        self.name = name
        self._topics = frozenset(topics)
        self._fetch = fetched_by
        self._certificates = Certificates(fetched_by)
        if not all(map(sns.region, self._topics)):
            raise WebhookSetupError(
                f"providers.{name}.webhook_topics: ARNs of SNS topics are expected,"
                ' "arn:aws:sns:REGION:ACCOUNT:NAME"'
            )

    async def read(self, headers: Mapping[str, str], body: bytes) -> Reading:  # noqa: ARG002 - all is in the body
        message = members(body)
        if message is None or text(message, "TopicArn") not in self._topics:
            return Forged("not of a configured topic")
        url = sns.certificate_url(message)
        if url is None:
            return Forged("a certificate that does not lie with SNS")
        try:
            if not sns.signed(message, await self._certificates.key(url)):
                return Forged("wrong signature")
            return await self._follow(message)
        except FetchError as error:
            return Unavailable(str(error))

    async def _follow(self, message: Mapping[str, object]) -> Reading:
        """Act on a message whose signature holds."""
        match text(message, "Type"):
            case sns.SUBSCRIPTION:
                return await self._confirm(message)
            case sns.UNSUBSCRIPTION:
                log.warning("webhook_unsubscribed", provider=self.name)
                return Heard(others=1)
            case _:
                return read(self.name, text(message, "Message"))

    async def _confirm(self, message: Mapping[str, object]) -> Reading:
        url = sns.subscribe_url(message)
        if url is None:
            return Forged("a confirmation that does not lie with SNS")
        await self._fetch(url)
        return Subscribed(text(message, "TopicArn"))


def read(provider: str, body: str) -> Heard | Unreadable:
    event = members(body)
    kind = text(event, "eventType") or text(event, "notificationType")
    if event is None or not kind:
        return Unreadable("no JSON object with an eventType")
    return heard([_notice(provider, kind, event)])


def _notice(provider: str, kind: str, event: Mapping[str, object]) -> Notice | None:
    mail = event.get("mail")
    told = event.get(kind[:1].lower() + kind[1:])  # "Bounce" is told in "bounce"
    words = ("bounceType", "bounceSubType", "complaintFeedbackType", "delayType")
    return about(
        provider,
        _our_key(mail),
        text(mail, "messageId"),
        NEWS.get(kind),
        instant(text(told, "timestamp") or text(mail, "timestamp")),
        code(*(text(told, word) for word in words)),
    )


def _our_key(mail: object) -> str:
    """Read our tag, a list of one; else our header."""
    match inside(mail, "tags", KEY_FIELD):
        case [str() as key, *_]:
            return key
        case _:
            headers = inside(mail, "headers")
    named = headers if isinstance(headers, list) else []
    return next((text(h, "value") for h in named if _is_ours(text(h, "name"))), "")


def _is_ours(name: str) -> bool:
    return name.casefold() == KEY_HEADER
