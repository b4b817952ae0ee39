"""What a provider's webhook is to the listener: one request read, and what that came to.

Reading
├─ Heard        the provider's own words, signed
├─ Subscribed   a subscription was confirmed; there is no event in it
├─ Forged       not signed by the provider, or not meant for us        -> 401
├─ Unreadable   signed, but not as documented: no repeat reads better  -> 200
└─ Unavailable  cannot be judged now; the provider shall repeat it     -> 503

`why` is for our log: it says what was wrong, and holds nothing of the request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from consumer.model import Notice

Clock: TypeAlias = Callable[[], float]  # seconds since the epoch: what signatures are dated by


@dataclass(frozen=True, slots=True)
class Heard:
    """`others`: events that prove nothing, or are about mails that are not ours."""

    notices: tuple[Notice, ...] = ()
    others: int = 0


@dataclass(frozen=True, slots=True)
class Subscribed:
    topic: str


@dataclass(frozen=True, slots=True)
class Forged:
    why: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    why: str


@dataclass(frozen=True, slots=True)
class Unavailable:
    why: str


Reading: TypeAlias = Heard | Subscribed | Forged | Unreadable | Unavailable


class Hook(Protocol):
    """One configured provider's webhook."""

    @property
    def name(self) -> str:
        """Return the provider's configured name: the last part of the path."""

    @property
    def challenge(self) -> str | None:
        """Return the `WWW-Authenticate` of a 401; None: the provider knows no such thing."""

    async def read(self, headers: Mapping[str, str], body: bytes) -> Reading:
        """Verify and read one request. `headers` are looked up without regard to case."""


@dataclass(frozen=True, slots=True)
class Source:
    """What is configured for one provider, in plain values. No secrets (SES: topics): no webhook.

    `secrets`, each one good (that is how they are rotated):
        postmark   "user:password" of the webhook's URL
        mailgun    the HTTP webhook signing key
        resend     "whsec_..."
        sendgrid   the verification key: a public key, base64 of its DER
        ses        none; SNS signs with certificates of its own
    """

    name: str
    type: str
    secrets: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()  # ses: ARNs of the SNS topics that may speak


class WebhookSetupError(Exception):
    """The listener cannot be had as configured; the message names the setting, and no secret."""
