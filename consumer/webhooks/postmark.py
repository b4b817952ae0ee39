"""Postmark: https://postmarkapp.com/developer/webhooks/webhooks-overview.

Nothing is signed: the webhook's URL carries a user and a password. There is no event for "taken":
the first thing heard of a mail is its delivery or its bounce.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Iterable, Mapping
from typing import Final

from consumer.model import KEY_FIELD, News, Notice
from consumer.webhooks.bodies import about, code, heard, instant, members, text
from consumer.webhooks.hook import (
    Forged,
    Heard,
    Reading,
    Unreadable,
    WebhookSetupError,
)

# https://postmarkapp.com/developer/api/bounce-api#bounce-types. These are filed as bounces and are
# none: the mail is late, or it arrived and somebody answered. They prove that it was taken.
NO_BOUNCE: Final = frozenset(
    {
        "AddressChange",
        "AutoResponder",
        "ChallengeVerification",
        "DnsError",  # temporary, and tried again
        "OpenRelayTest",
        "Subscribe",
        "Transient",  # tried again
        "Unsubscribe",
    }
)
# The same page: what Postmark refused to take by SMTP, or received for us. No mail that was taken.
NOT_TAKEN: Final = frozenset({"InboundError", "SMTPApiError", "TemplateRenderingFailed"})


class PostmarkHook:
    challenge = 'Basic realm="webhooks"'

    def __init__(self, name: str, secrets: Iterable[str]) -> None:
        self.name = name
        self._secrets = tuple(secret.encode() for secret in secrets)
        if not all(secret.partition(b":")[2] for secret in self._secrets):
            raise WebhookSetupError(
                f'providers.{name}.webhook_secret: "user:password" is expected, as in the URL that'
                " Postmark calls"
            )

    async def read(self, headers: Mapping[str, str], body: bytes) -> Reading:
        if not authentic(self._secrets, headers.get("Authorization", "")):
            return Forged("wrong user or password")
        return read(self.name, body)


def authentic(secrets: Iterable[bytes], authorization: str) -> bool:
    """Compare with every secret, each in constant time: RFC 7617."""
    scheme, _, token = authorization.partition(" ")
    if scheme.casefold() != "basic":
        return False
    try:
        given = base64.b64decode(token.strip(), validate=True)
    except (binascii.Error, ValueError):
        return False
    return any(hmac.compare_digest(given, secret) for secret in secrets)


def read(provider: str, body: bytes) -> Heard | Unreadable:
    event = members(body)
    if event is None or not text(event, "RecordType"):
        return Unreadable("no JSON object with a RecordType")
    return heard([_notice(provider, event)])


def _notice(provider: str, event: Mapping[str, object]) -> Notice | None:
    kind = text(event, "Type")
    at = event.get("DeliveredAt") or event.get("BouncedAt")
    return about(
        provider,
        text(event, "Metadata", KEY_FIELD),
        text(event, "MessageID"),
        _news(text(event, "RecordType"), kind),
        instant(at),
        code(kind),
    )


def _news(record_type: str, kind: str) -> News | None:
    match record_type:
        case "Delivery":
            return News.DELIVERED
        case "SpamComplaint":
            return News.COMPLAINED
        case "Bounce" if kind in NOT_TAKEN:
            return None
        case "Bounce":
            return News.ACCEPTED if kind in NO_BOUNCE else News.BOUNCED
        case _:
            return None
