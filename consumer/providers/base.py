"""What a provider is to the rest of the house, and what an adapter must bring to become one.

Provider            what the line and the resolver hold: prepare, then attempt
├─ HttpProvider     (transport.py) every provider with an HTTP API; speaks through an Adapter
├─ FileProvider     (file.py)
└─ SmtpProvider     (smtp.py)

Adapter             two pure functions and one hook: the whole knowledge of one HTTP API
├─ request          Message, its files, its hosted template -> Prepared | Rejected
├─ sign             credentials, at the moment of sending
└─ read             status, headers, body -> Answer
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import orjson

from consumer.model import (
    Answer,
    Blocked,
    Enclosed,
    Lease,
    Message,
    Prepared,
    Rejected,
    Transient,
)
from consumer.providers.enclosing import size_of
from consumer.providers.lookups import Lookup, Search

REQUEST_LIMIT = 1 << 20  # bytes, files aside; no provider here takes mails that need more


class Provider(Protocol):
    """One configured way out. `prepare` is pure; `attempt` never raises."""

    name: str
    timeout: float  # seconds; the longest that one attempt can take
    concurrency: int
    rate: float | None  # mails a second for the whole fleet; None: no limit of ours

    @property
    def account(self) -> str:
        """Whose mail it is: evidence from another account proves nothing. Holds no secret."""

    @property
    def window(self) -> float:
        """Seconds for which a repeat with the same key and bytes is the same mail; 0: never."""

    @property
    def lookup(self) -> Lookup | None:
        """Return how this provider is asked about a mail; None: it cannot be asked."""

    def prepare(self, message: Message, enclosed: Sequence[Enclosed] = ()) -> Prepared | Rejected:
        """Return the bytes for `message`: the same for the same message, on every machine.

        `enclosed`: all of its attachments, in their order; without them it is `Rejected`.
        """

    async def attempt(self, prepared: Prepared, lease: Lease, until: float = math.inf) -> Answer:
        """Send once. No byte leaves after `min(lease.ends_at, until) - timeout`.

        Both are instants on the clock `model.elapsed`; `until` is the end of a native window.
        Cancelled before the last piece left (`deadline`; of a mail without files, its only one):
        `TooLate(called_back=True)`; after it: `Unclear`.
        """

    async def open(self) -> None: ...

    async def close(self) -> None: ...


class Adapter(Protocol):
    """One HTTP API. `request` and `read` are pure: no clock, no random, no I/O."""

    @property
    def account(self) -> str: ...

    @property
    def window(self) -> float: ...

    @property
    def search(self) -> Search | None:
        """Return how this API is asked about a mail; None: it cannot be asked."""

    def request(
        self, message: Message, enclosed: Sequence[Enclosed] = (), template: str | None = None
    ) -> Prepared | Rejected:
        """Say the message in the provider's words; what it would refuse anyway is `Rejected`.

        `enclosed`: its files, which are complete and not too large. `template`: the id of the one
        that the provider keeps and fills with `message.model`: its bodies are sent, and its subject
        where the provider takes no other.
        """

    async def sign(self, prepared: Prepared) -> Mapping[str, str] | Transient | Blocked:
        """Return the headers that may differ at every repeat: credentials, signatures, dates."""

    def read(self, status: int, headers: Mapping[str, str], body: bytes) -> Answer:
        """Read an answer: by the provider's own error code first, by the status second.

        `headers` are looked up without regard to case. `body` may be cut short.
        """


def prepared(
    message: Message,
    url: str,
    body: bytes,
    headers: Mapping[str, str] | None = None,
    enclosed: Sequence[Enclosed] = (),
) -> Prepared | Rejected:
    """Seal the bytes of one request."""
    limit = REQUEST_LIMIT + 2 * size_of(enclosed) if enclosed else REQUEST_LIMIT
    if len(body) > limit:
        return Rejected(f"request of {len(body)} bytes, at most {limit} are sent")
    return Prepared(message, body, hashlib.sha256(body).digest(), headers or {}, url)


def prepared_json(
    message: Message,
    url: str,
    body: Mapping[str, Any],
    headers: Mapping[str, str],
    enclosed: Sequence[Enclosed] = (),
) -> Prepared | Rejected:
    """Seal a request whose body is JSON."""
    written = json_of(body)
    if written is None:
        return Rejected("it holds what JSON cannot say")
    return prepared(message, url, written, headers, enclosed)


def json_of(value: object) -> bytes | None:
    """Write JSON; integers beyond 64 bits, which events may bring, take the careful way.

    None: half a surrogate pair, or a number that is none.
    """
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return _carefully(value)


def _carefully(value: object) -> bytes | None:
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        return text.encode()
    except (TypeError, ValueError):
        return None


def account_of(kind: str, given: str | None, secret: str) -> str:
    """Name an account: as configured, else by a digest of its credential.

    A digest changes when the credential is rotated, which only costs evidence ("another account");
    whoever rotates within one account names it in `account`.
    """
    return f"{kind}:{given or hashlib.sha256(secret.encode()).hexdigest()[:12]}"


def answer_cancellation() -> None:
    """Take the cancellation off the task: what `attempt` returns is the answer to it."""
    task = asyncio.current_task()
    if task is not None:
        task.uncancel()
