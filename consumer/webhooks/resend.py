"""Resend, whose webhooks Svix delivers: https://docs.svix.com/receiving/verifying-payloads/how-manual.

Every attempt at a delivery is signed anew, so a short window suits them.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import time
from collections.abc import Iterable, Mapping
from typing import Final

from consumer.model import KEY_FIELD, News, Notice
from consumer.webhooks.bodies import (
    about,
    as_sent,
    code,
    epoch_seconds,
    heard,
    inside,
    instant,
    members,
    text,
)
from consumer.webhooks.hook import (
    Clock,
    Forged,
    Heard,
    Reading,
    Unreadable,
    WebhookSetupError,
)

TOLERANCE: Final = 300.0  # seconds, to both sides; what Svix's own libraries allow
_PREFIX: Final = "whsec_"

# https://resend.com/docs/webhooks/event-types. `email.failed` is left out on purpose: it is also
# told of API keys and domains that were refused, so it does not prove that the mail was taken.
NEWS: Final[Mapping[str, News]] = {
    "email.sent": News.ACCEPTED,
    "email.delivery_delayed": News.ACCEPTED,
    "email.delivered": News.DELIVERED,
    "email.bounced": News.BOUNCED,
    "email.suppressed": News.BOUNCED,  # taken, and kept from an address that bounced before
    "email.complained": News.COMPLAINED,
}


class ResendHook:
    challenge = None

    def __init__(self, name: str, secrets: Iterable[str], clock: Clock = time.time) -> None:
        self.name = name
        self._secrets = tuple(_key(name, secret) for secret in secrets)
        self._clock = clock

    async def read(self, headers: Mapping[str, str], body: bytes) -> Reading:
        forged = verify(self._secrets, headers, body, self._clock())
        return forged or read(self.name, body)


def _key(name: str, secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.startswith(_PREFIX) or not key:
        raise WebhookSetupError(
            f'providers.{name}.webhook_secret: Resend\'s begins with "whsec_", then base64'
        )
    return key


def verify(
    secrets: Iterable[bytes], headers: Mapping[str, str], body: bytes, now: float
) -> Forged | None:
    """Check `v1` signatures (several, apart by spaces) over "id.timestamp.body"."""
    said, when = headers.get("svix-id", ""), headers.get("svix-timestamp", "")
    at = epoch_seconds(when)
    if at is None or abs(now - at) > TOLERANCE:
        return Forged("no timestamp, or too far from now")
    content = as_sent(f"{said}.{when}.") + body
    given = [
        as_sent(signature)
        for version, _, signature in map(_parted, headers.get("svix-signature", "").split(" "))
        if version == "v1"
    ]
    right = [base64.b64encode(hmac.digest(secret, content, "sha256")) for secret in secrets]
    if any(hmac.compare_digest(one, other) for one in right for other in given):
        return None
    return Forged("wrong signature")


def _parted(signature: str) -> tuple[str, str, str]:
    return signature.partition(",")


def read(provider: str, body: bytes) -> Heard | Unreadable:
    event = members(body)
    if event is None or not text(event, "type"):
        return Unreadable("no JSON object with a type")
    return heard([_notice(provider, event)])


def _notice(provider: str, event: Mapping[str, object]) -> Notice | None:
    data = event.get("data")
    return about(
        provider,
        _our_key(inside(data, "tags")),
        text(data, "email_id"),
        NEWS.get(text(event, "type")),
        instant(event.get("created_at")),
        code(text(data, "bounce", "type"), text(data, "bounce", "subType")),
    )


def _our_key(tags: object) -> str:
    """Read an object, as events carry it, or the list of pairs that one page describes."""
    if not isinstance(tags, list):
        return text(tags, KEY_FIELD)
    return next((text(tag, "value") for tag in tags if text(tag, "name") == KEY_FIELD), "")
