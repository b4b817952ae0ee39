"""SendGrid's signed Event Webhook.

https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features

A request carries many events. No window is laid over the timestamp: it is signed together with the
body, so an old request can only repeat what was said, and no page says whether the repeats of an
outage (up to 24 h) are signed anew.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    EllipticCurvePublicKey,
)
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_der_public_key

from consumer.model import KEY_FIELD, News, Notice
from consumer.webhooks.bodies import about, anything, as_sent, code, heard, instant, text
from consumer.webhooks.hook import (
    Forged,
    Heard,
    Reading,
    Unreadable,
    WebhookSetupError,
)

SIGNATURE: Final = "X-Twilio-Email-Event-Webhook-Signature"
TIMESTAMP: Final = "X-Twilio-Email-Event-Webhook-Timestamp"

# https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event
NEWS: Final[Mapping[str, News]] = {
    "processed": News.ACCEPTED,
    "deferred": News.ACCEPTED,  # tried again
    "delivered": News.DELIVERED,
    "bounce": News.BOUNCED,  # its type: "bounce", or "blocked"
    "dropped": News.BOUNCED,  # taken (202), and kept from an address that bounced before
    "spamreport": News.COMPLAINED,
}


class SendgridHook:
    challenge = None

    def __init__(self, name: str, secrets: Iterable[str]) -> None:
        self.name = name
        self._keys = tuple(_key(name, secret) for secret in secrets)

    async def read(self, headers: Mapping[str, str], body: bytes) -> Reading:
        if not any(verify(key, headers, body) for key in self._keys):
            return Forged("wrong signature")
        return read(self.name, body)


def _key(name: str, secret: str) -> EllipticCurvePublicKey:
    try:
        key = load_der_public_key(base64.b64decode(secret, validate=True))
    except (binascii.Error, ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, EllipticCurvePublicKey) or not isinstance(key.curve, SECP256R1):
        raise WebhookSetupError(
            f"providers.{name}.webhook_secret: SendGrid's verification key is expected, base64 of a"
            " P-256 public key as its console shows it"
        )
    return key


def verify(key: EllipticCurvePublicKey, headers: Mapping[str, str], body: bytes) -> bool:
    """Check ECDSA with SHA-256 over the timestamp's text and the body as it came."""
    try:
        signature = base64.b64decode(headers.get(SIGNATURE, ""), validate=True)
        content = as_sent(headers.get(TIMESTAMP, "")) + body
        key.verify(signature, content, ECDSA(SHA256()))
    except (binascii.Error, ValueError, InvalidSignature):
        return False
    return True


def read(provider: str, body: bytes) -> Heard | Unreadable:
    events = anything(body)
    if not isinstance(events, list):
        return Unreadable("no JSON array")
    return heard(_notice(provider, event) for event in events)


def _notice(provider: str, event: object) -> Notice | None:
    """Read one event. What the API answered with is its message id up to the first dot."""
    said = event if isinstance(event, Mapping) else {}
    return about(
        provider,
        text(said, KEY_FIELD),
        text(said, "sg_message_id").partition(".")[0],
        NEWS.get(text(said, "event")),
        instant(said.get("timestamp")),
        code(text(said, "event"), text(said, "type"), text(said, "status")),
    )
