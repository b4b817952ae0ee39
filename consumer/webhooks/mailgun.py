"""Mailgun: https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks.

The signature covers a timestamp and a token, and not the body: whoever sees one request could put
other words under its signature. So a token is bound to the words it came with; with others it is
forged, with the same it is a repeat, which harms nobody and may be Mailgun's own.
"""

from __future__ import annotations

import hashlib
import hmac
import time
from collections.abc import Iterable, Mapping
from typing import Final

import orjson

from consumer.model import KEY_FIELD, News, Notice
from consumer.webhooks.bodies import (
    about,
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

# Mailgun repeats for 8 hours, and no page says whether a repeat is signed anew: a window shorter
# than that could lose what happened during an outage of ours.
MAX_AGE: Final = 12 * 3600.0  # seconds
MAX_AHEAD: Final = 300.0  # seconds; their clock before ours
TOKENS: Final = 65_536  # remembered; the oldest go first

# https://documentation.mailgun.com/docs/mailgun/user-manual/events/events. `rejected` is left out
# on purpose: it tells of a request that was not taken.
NEWS: Final[Mapping[str, News]] = {
    "accepted": News.ACCEPTED,
    "delivered": News.DELIVERED,
    "failed": News.BOUNCED,  # where it is for good: `_news`
    "complained": News.COMPLAINED,
}


class Tokens:
    """Which words each token was first seen with."""

    def __init__(self, room: int = TOKENS) -> None:
        self._room = room
        self._words: dict[str, bytes] = {}

    def bound_to(self, token: str, words: bytes) -> bool:
        """Bind a token to these words, if it is new; tell whether they are its words."""
        first = self._words.setdefault(token, words)
        if len(self._words) > self._room:
            del self._words[next(iter(self._words))]
        return first == words


class MailgunHook:
    challenge = None

    def __init__(self, name: str, secrets: Iterable[str], clock: Clock = time.time) -> None:
        self.name = name
        self._secrets = tuple(secret.encode() for secret in secrets)
        self._clock = clock
        self._tokens = Tokens()
        if not all(self._secrets):
            raise WebhookSetupError(
                f"providers.{name}.webhook_secret: Mailgun's HTTP webhook signing key is expected"
            )

    async def read(self, headers: Mapping[str, str], body: bytes) -> Reading:  # noqa: ARG002 - all is in the body
        request = members(body)
        forged = verify(self._secrets, request, self._clock())
        if forged is not None or request is None:
            return forged or Forged("no signature")
        words = _digest(request.get("event-data"))
        if not self._tokens.bound_to(text(request, "signature", "token"), words):
            return Forged("a token that came with other words before")
        return read(self.name, request)


def verify(
    secrets: Iterable[bytes], request: Mapping[str, object] | None, now: float
) -> Forged | None:
    """Check the hexadecimal HMAC-SHA256 over timestamp and token, and the timestamp's age.

    Where a subaccount sends, `parent-signature` is the same under the main account's key.
    """
    stated = request and request.get("signature")
    when, token = _whole(inside(stated, "timestamp")), text(stated, "token")
    given = [text(stated, name).casefold().encode() for name in ("signature", "parent-signature")]
    at = epoch_seconds(when)
    if at is None or not token:
        return Forged("no signature")
    if not -MAX_AHEAD <= now - at <= MAX_AGE:
        return Forged("a timestamp too far from now")
    right = [hmac.new(secret, (when + token).encode(), "sha256").hexdigest() for secret in secrets]
    if any(hmac.compare_digest(one.encode(), other) for one in right for other in given):
        return None
    return Forged("wrong signature")


def _whole(stated: object) -> str:
    """Write a timestamp as it is signed: text in the documented example, a number in its table."""
    return str(stated) if isinstance(stated, str | int) else ""


def _digest(words: object) -> bytes:
    """Digest what was said, whatever the order of its members."""
    return hashlib.sha256(orjson.dumps(words, option=orjson.OPT_SORT_KEYS)).digest()


def read(provider: str, request: Mapping[str, object]) -> Heard | Unreadable:
    event = request.get("event-data")
    if not text(event, "event"):
        return Unreadable("no event-data with an event")
    return heard([_notice(provider, event)])


def _notice(provider: str, event: object) -> Notice | None:
    said = event if isinstance(event, Mapping) else {}
    status = said.get("delivery-status")
    return about(
        provider,
        text(said, "user-variables", KEY_FIELD),
        text(said, "message", "headers", "message-id").strip("<>"),
        _news(text(said, "event"), text(said, "severity")),
        instant(said.get("timestamp")),
        code(text(said, "severity"), text(said, "reason"), _number(status)),
    )


def _news(event: str, severity: str) -> News | None:
    """A failure that is not for good says that Mailgun has the mail and goes on trying."""
    if event == "failed" and severity != "permanent":
        return News.ACCEPTED
    return NEWS.get(event)


def _number(status: object) -> int | None:
    found = status.get("code") if isinstance(status, Mapping) else None
    return found if isinstance(found, int) else None
