"""Amazon SNS, which carries what SES has to tell: who may speak, and what they sign.

https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html

Everything in a message is the sender's claim until the signature holds, the address of the
certificate included: it is looked at, and fetched only from SNS itself, in the topic's own region.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import SplitResult, parse_qs, urlsplit

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA1, SHA256

from consumer.webhooks.bodies import text

NOTIFICATION: Final = "Notification"
SUBSCRIPTION: Final = "SubscriptionConfirmation"
UNSUBSCRIPTION: Final = "UnsubscribeConfirmation"

# What is signed, in this order: each name and value on a line of its own.
_SIGNED: Final[Mapping[str, tuple[str, ...]]] = {
    NOTIFICATION: ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"),
    **dict.fromkeys(
        (SUBSCRIPTION, UNSUBSCRIPTION),
        ("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"),
    ),
}
_HASHES: Final = {
    "1": SHA1(),  # noqa: S303 - what SNS signs with unless the topic is set to version 2
    "2": SHA256(),
}
_TOPIC: Final = re.compile(r"arn:aws[a-z-]*:sns:([a-z0-9-]+):\d{12}:[A-Za-z0-9_-]{1,256}")
_HOST: Final = re.compile(r"sns\.([a-z0-9-]+)\.amazonaws\.com(\.cn)?")
_CERTIFICATE: Final = re.compile(r"/SimpleNotificationService-[A-Za-z0-9]{1,64}\.pem")


def region(topic: str) -> str | None:
    """Return the region in a topic's ARN; None: it is no such ARN."""
    match = _TOPIC.fullmatch(topic)
    return match and match[1]


def canonical(message: Mapping[str, object]) -> bytes | None:
    """Return the bytes that are signed; None: a kind that nobody documents, or not all is there."""
    names = _SIGNED.get(text(message, "Type"), ())
    given = [name for name in names if isinstance(message.get(name), str)]
    if not names or set(names) - {"Subject", *given}:  # a subject is optional
        return None
    return "".join(f"{name}\n{message[name]}\n" for name in given).encode()


def signed(message: Mapping[str, object], key: RSAPublicKey) -> bool:
    content, hashed = canonical(message), _HASHES.get(text(message, "SignatureVersion"))
    if content is None or hashed is None:
        return False
    try:
        signature = base64.b64decode(text(message, "Signature"), validate=True)
        key.verify(signature, content, PKCS1v15(), hashed)
    except (binascii.Error, ValueError, InvalidSignature):
        return False
    return True


# ── Addresses


def certificate_url(message: Mapping[str, object]) -> str | None:
    """Return where the certificate lies, if that is SNS in the topic's region; else None."""
    url = text(message, "SigningCertURL")
    parts = _of_sns(url, text(message, "TopicArn"))
    fits = parts is not None and _CERTIFICATE.fullmatch(parts.path) and not parts.query
    return url if fits else None


def subscribe_url(message: Mapping[str, object]) -> str | None:
    """Return where this very topic's subscription is confirmed; None: it is another place."""
    url, topic = text(message, "SubscribeURL"), text(message, "TopicArn")
    parts = _of_sns(url, topic)
    if parts is None or parts.path not in ("", "/"):
        return None
    asked = parse_qs(parts.query)
    fits = asked.get("Action") == ["ConfirmSubscription"] and asked.get("TopicArn") == [topic]
    return url if fits else None


def _of_sns(url: str, topic: str) -> SplitResult | None:
    if not url.isascii() or not url.isprintable() or "\\" in url:
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    host = _HOST.fullmatch(parts.netloc)  # so no user, no password and no port either
    ours = host is not None and host[1] == region(topic)
    return parts if ours and parts.scheme == "https" and not parts.fragment else None
