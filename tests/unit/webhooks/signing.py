"""How the providers sign, by their published algorithms: what the tests sign with.

Written from the providers' pages, apart from the code under test; only the cryptography is shared.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

KEY = "0123456789abcdef" * 3
OTHER_KEY = "f" * 48
NOW = 1_790_000_000.0  # seconds since the epoch: the clock of these tests
ADDRESS = "ada@example.org"  # stands in every event, and may come out of none


def dumped(value: object) -> bytes:
    return json.dumps(value).encode()


# ── Postmark: RFC 7617


def basic(user: str, password: str) -> dict[str, str]:
    token = base64.b64encode(f"{user}:{password}".encode()).decode()
    return {"Authorization": f"Basic {token}"}


# ── Mailgun: hexadecimal HMAC-SHA256 of timestamp and token


def mailgun(key: str, event: object, *, token: str = "t" * 50, at: float = NOW) -> dict[str, Any]:
    when = str(int(at))
    signature = hmac.new(key.encode(), f"{when}{token}".encode(), hashlib.sha256).hexdigest()
    signed = {"timestamp": when, "token": token, "signature": signature}
    return {"signature": signed, "event-data": event}


# ── Resend, by Svix: base64 HMAC-SHA256 of "id.timestamp.body"


def whsec(raw: bytes = b"a secret of twenty-four b") -> str:
    return "whsec_" + base64.b64encode(raw).decode()


def svix(secret: str, body: bytes, *, at: float = NOW, message: str = "msg_1") -> dict[str, str]:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    content = f"{message}.{int(at)}.".encode() + body
    signature = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    return {
        "svix-id": message,
        "svix-timestamp": str(int(at)),
        "svix-signature": f"v1,{signature}",
    }


# ── SendGrid: ECDSA on P-256 with SHA-256 over the timestamp and the body


class SendgridSigner:
    def __init__(self, curve: ec.EllipticCurve | None = None) -> None:
        self._key = ec.generate_private_key(curve or ec.SECP256R1())

    @property
    def public(self) -> str:
        """As the console shows it."""
        der = self._key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        return base64.b64encode(der).decode()

    def sign(self, body: bytes, *, at: float = NOW) -> dict[str, str]:
        when = str(int(at))
        signature = self._key.sign(when.encode() + body, ec.ECDSA(hashes.SHA256()))
        return {
            "X-Twilio-Email-Event-Webhook-Signature": base64.b64encode(signature).decode(),
            "X-Twilio-Email-Event-Webhook-Timestamp": when,
        }


# ── Amazon SNS: RSA over names and values, each on its line

REGION = "eu-west-1"
TOPIC = f"arn:aws:sns:{REGION}:123456789012:mails"
CERTIFICATE = f"https://sns.{REGION}.amazonaws.com/SimpleNotificationService-{'0a' * 16}.pem"
NAMES = {
    "Notification": ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"),
    "SubscriptionConfirmation": (
        *("Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"),
    ),
}


def string_to_sign(message: dict[str, str]) -> str:
    names = NAMES.get(message["Type"], NAMES["SubscriptionConfirmation"])
    return "".join(f"{name}\n{message[name]}\n" for name in names if name in message)


@cache
def sns_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def certificate(
    days: int = 30, key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | None = None
) -> bytes:
    """Return a PEM that is valid for so many days from now; negative: it is over."""
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "sns.amazonaws.com")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key((key or sns_key()).public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=60))
        .not_valid_after(now + timedelta(days=days))
        .sign(key or sns_key(), hashes.SHA256())
    )
    return made.public_bytes(serialization.Encoding.PEM)


def sns(event: object, *, version: str = "2", **other: str) -> dict[str, str]:
    """Return a signed message; `other` members are in it before it is signed."""
    message = {
        "Type": "Notification",
        "MessageId": "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
        "TopicArn": TOPIC,
        "Message": event if isinstance(event, str) else json.dumps(event),
        "Timestamp": "2026-11-30T14:00:00.000Z",
        "SignatureVersion": version,
        "SigningCertURL": CERTIFICATE,
        **other,
    }
    hashed = hashes.SHA1() if version == "1" else hashes.SHA256()
    content = string_to_sign(message).encode()
    signature = sns_key().sign(content, padding.PKCS1v15(), hashed)
    return {**message, "Signature": base64.b64encode(signature).decode()}


def confirmation(
    *, topic: str = TOPIC, url: str | None = None, version: str = "2", **other: str
) -> dict[str, str]:
    """Return a signed SubscriptionConfirmation."""
    host = f"https://sns.{REGION}.amazonaws.com"
    return sns(
        "You have chosen to subscribe to the topic.",
        version=version,
        **{
            "Type": "SubscriptionConfirmation",
            "TopicArn": topic,
            "Token": "2336412f37",
            "SubscribeURL": url or f"{host}/?Action=ConfirmSubscription&TopicArn={topic}&Token=23",
            **other,
        },
    )
