"""What a provider tells by itself, signed as it signs: late, twice, out of order, or never.

It is called for each mail that a double accepted. Who does not answer 200 is called again, as the
providers do for hours. SES is not here: its events carry the address of a certificate at Amazon.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Final, Self, TypeAlias

import aiohttp

from tests.unit.webhooks import signing

Signed: TypeAlias = tuple[dict[str, str], bytes]  # headers and body
Sign: TypeAlias = Callable[[str, str, str], Signed]  # by our key, the mail's id, and what happened

HAPPENED: Final = ("accepted", "delivered")
NEVER: Final = 0.08  # of the events
TWICE: Final = 0.10
LATE: Final = (0.05, 0.5, 6.0)  # seconds; out of order, since each event draws its own
AGAIN: Final = 1.0  # seconds between two calls of one that is not answered 200
PATIENCE: Final = 900.0  # seconds


@dataclass(frozen=True, slots=True)
class Speech:
    """How one provider speaks. `secret` is what goes into its [providers.X]."""

    secret: str
    sign: Sign


def speech(provider: str) -> Speech:
    """Make keys, and what signs with them."""
    match provider:
        case "sendgrid":
            return _sendgrid()
        case "mailgun":
            return _mailgun("a signing key")
        case "postmark":
            return _postmark("shop", "open sesame")
        case "resend":
            return _resend(signing.whsec())
        case _:
            raise ValueError(f"{provider} calls nobody here")


def _sendgrid() -> Speech:
    signer = signing.SendgridSigner()
    names = {"accepted": "processed", "delivered": "delivered"}

    def sign(key: str, mail: str, happened: str) -> Signed:
        event = {
            "event": names[happened],
            "sendonce_key": key,
            "sg_message_id": f"{mail}.recvd-6d48-1.0",
            "timestamp": int(time.time()),
        }
        body = signing.dumped([event])
        return signer.sign(body, at=time.time()), body

    return Speech(signer.public, sign)


def _mailgun(secret: str) -> Speech:
    def sign(key: str, mail: str, happened: str) -> Signed:
        event = {
            "event": happened,
            "timestamp": time.time(),
            "message": {"headers": {"message-id": mail}},
            "user-variables": {"sendonce_key": key},
        }
        signed = signing.mailgun(secret, event, token=token_hex(25), at=time.time())
        return {"Content-Type": "application/json"}, signing.dumped(signed)

    return Speech(secret, sign)


def _postmark(user: str, password: str) -> Speech:
    """Postmark tells nothing of a mail before its delivery."""

    def sign(key: str, mail: str, happened: str) -> Signed:
        event = {"RecordType": "Delivery", "MessageID": mail, "Metadata": {"sendonce_key": key}}
        return signing.basic(user, password), signing.dumped(event)

    return Speech(f"{user}:{password}", sign)


def _resend(secret: str) -> Speech:
    names = {"accepted": "email.sent", "delivered": "email.delivered"}

    def sign(key: str, mail: str, happened: str) -> Signed:
        event = {
            "type": names[happened],
            "data": {"email_id": mail, "tags": {"sendonce_key": key}},
        }
        body = signing.dumped(event)
        return signing.svix(secret, body, at=time.time(), message=f"msg_{token_hex(8)}"), body

    return Speech(secret, sign)


@dataclass
class Caller:
    """Calls the listeners at `urls`, any of them, for what a double accepts.

    `async with Caller(...) as caller: double.ledger.on_accept = caller.tell`
    """

    speech: Speech
    urls: Sequence[str]
    seed: int = 0
    never: float = NEVER
    late: Sequence[float] = LATE
    heard: int = 0  # answered 200
    _random: random.Random = field(default_factory=random.Random)
    _calls: set[asyncio.Task[None]] = field(default_factory=set)
    _session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._random.seed(self.seed)
        self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=10))
        return self

    async def __aexit__(self, *_: object) -> None:
        for call in self._calls:
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)
        assert self._session is not None
        await self._session.close()

    def tell(self, key: str, mail: str) -> None:
        for happened in HAPPENED:
            if self._random.random() < self.never:
                continue
            for _ in range(1 + (self._random.random() < TWICE)):
                self._start(self._call(key, mail, happened, self._random.choice(self.late)))

    def _start(self, call: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(call)
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)

    async def _call(self, key: str, mail: str, happened: str, late: float) -> None:
        await asyncio.sleep(late * self._random.random())
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            if await self._posted(*self.speech.sign(key, mail, happened)):
                self.heard += 1
                return
            await asyncio.sleep(AGAIN * (0.5 + self._random.random()))

    async def _posted(self, headers: Mapping[str, str], body: bytes) -> bool:
        assert self._session is not None
        try:
            url = self._random.choice(self.urls)
            async with self._session.post(url, data=body, headers=headers) as answer:
                return answer.status == 200
        except (aiohttp.ClientError, TimeoutError):
            return False
