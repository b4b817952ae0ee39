"""Providers that call our listener, with signatures made as they make them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import aiohttp
import orjson
from prometheus_client.parser import text_string_to_metric_families

from tests.unit.webhooks import signing
from tests.whole.stack import Stack
from tests.whole.worker import Worker

Signed: TypeAlias = tuple[Mapping[str, str], bytes]  # headers and body
NEWS = ("accepted", "delivered", "bounced", "complained")


@dataclass(frozen=True, slots=True)
class Voice:
    """How one provider speaks: what stands in its section, and how it says what happened."""

    provider: str
    options: Mapping[str, object]
    say: Callable[[str, str, str], Signed]  # our key, the mail's id, one of NEWS
    forge: Callable[[Signed], Signed]


def voice(provider: str) -> Voice:
    return _sendgrid() if provider == "sendgrid" else _ses()


def _sendgrid() -> Voice:
    signer = signing.SendgridSigner()
    names = dict(zip(NEWS, ("processed", "delivered", "bounce", "spamreport"), strict=True))

    def say(key: str, mail: str, news: str) -> Signed:
        event = {
            "event": names[news],
            "email": signing.ADDRESS,
            "sendonce_key": key,
            "sg_message_id": f"{mail}.recvd-6d48-1.0",
            "timestamp": int(time.time()),
        }
        body = signing.dumped([event])
        return signer.sign(body, at=time.time()), body

    def forge(signed: Signed) -> Signed:
        return signing.SendgridSigner().sign(signed[1], at=time.time()), signed[1]

    return Voice("sendgrid", {"webhook_secret": signer.public}, say, forge)


def _ses() -> Voice:
    names = dict(zip(NEWS, ("Send", "Delivery", "Bounce", "Complaint"), strict=True))

    def say(key: str, mail: str, news: str) -> Signed:
        kind = names[news]
        event = {
            "eventType": kind,
            "mail": {"messageId": mail, "tags": {"sendonce_key": [key]}},
            kind.lower(): {"bounceType": "Permanent"} if kind == "Bounce" else {},
        }
        return {"x-amz-sns-message-type": "Notification"}, signing.dumped(signing.sns(event))

    def forge(signed: Signed) -> Signed:
        message = orjson.loads(signed[1])
        return signed[0], signing.dumped({**message, "Timestamp": "2026-11-30T14:00:01.000Z"})

    return Voice("ses", {"webhook_topics": signing.TOPIC}, say, forge)


@dataclass(frozen=True, slots=True)
class Listener:
    """The worker's listener, and who calls it."""

    worker: Worker
    voice: Voice

    async def told(self, key: str, mail: str, *news: str) -> None:
        """Call for each of these, in this order; each is heard."""
        for one in news:
            assert await self.posted(*self.voice.say(key, mail, one)) == 200

    async def forged(self, key: str, mail: str, news: str) -> int:
        """Return what a call is answered that somebody else has signed."""
        return await self.posted(*self.voice.forge(self.voice.say(key, mail, news)))

    async def posted(self, headers: Mapping[str, str], body: bytes) -> int:
        url = f"http://127.0.0.1:{self._port()}/webhooks/{self.voice.provider}"
        async with (
            aiohttp.ClientSession() as session,
            session.post(url, data=body, headers=headers) as answer,
        ):
            return answer.status

    async def counted(self, name: str, **labels: str) -> float:
        """Return a number of the worker's."""
        text = (await self.worker.get("/metrics"))[1]
        samples = [s for family in text_string_to_metric_families(text) for s in family.samples]
        [found] = [s for s in samples if s.name == name and labels.items() == s.labels.items()]
        return found.value

    def _port(self) -> Any:
        return self.worker.line("listening for webhooks")["port"]


async def listening(stack: Stack, voice: Voice) -> Listener:
    """Start a worker that listens to this provider. It has SES's certificate in a file."""
    stack.settings["webhooks"] = {"host": "127.0.0.1", "port": 0}
    worker = stack.worker()
    wrapped = [sys.executable, "-m", "tests.whole.with_sns", _certificate(stack.folder)]
    worker.command = [*wrapped, *worker.command[3:]]
    return Listener(await worker.start().ready(60), voice)


def _certificate(folder: Path) -> str:
    file = folder / "sns.pem"
    file.write_bytes(signing.certificate())
    return str(file)
