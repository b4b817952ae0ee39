"""Resets in which whatever tells on a person holds the canary, and all that listens to a worker."""

from __future__ import annotations

import asyncio
import os
from base64 import b64encode
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import aiohttp
import orjson
from aiohttp import web

from consumer.keys import send_key
from tests.doubles.script import Fault
from tests.whole.events import reset
from tests.whole.shapes import CANARY, address
from tests.whole.stack import Stack
from tests.whole.worker import Worker

TOKEN = "canary-token"
URL = f"https://accounts.shop.example/reset?token={TOKEN}"
ECHO = f"no: {URL} for Canary <{address('person')}>"
HOOK = "canary-user:canary-password"
Headers = tuple[tuple[str, bytes], ...]
HEADERS: Headers = (("trace", b"canary-header"),)


def a_reset(name: str, *, age: timedelta = timedelta(), **members: object) -> bytes:
    """One reset's event; `members` are of `data.reset`."""
    event: dict[str, Any] = orjson.loads(reset(f"id-{name}", address(name), age=age))
    event["data"]["reset"] |= {"url": URL, "device": "canary device", **members}
    event["data"]["account"]["name"] = "Canary Person"
    return orjson.dumps(event)


def elsewhere(name: str, to: str) -> bytes:
    event = orjson.loads(a_reset(name))
    event["data"]["account"]["email"] = to
    return orjson.dumps(event)


def key_of(name: str) -> str:
    return send_key("password.reset", f"id-{name}", address(name), case_sensitive_entity=True)


def refusal(status: int, code: int) -> Fault:
    return Fault("status", status, orjson.dumps({"ErrorCode": code, "Message": ECHO}).decode())


# What each recipient's requests come to: every class of answer there is, the mail's words in each.
BY_RECIPIENT: Mapping[str, Fault] = {
    "refused": refusal(422, 406),
    "rejected": refusal(422, 300),
    "another code": refusal(422, 99_999),
    "bare error": Fault("status", 500, ECHO),
    "gateway": Fault("status", 502, f"<html>{ECHO}</html>"),
    "no json": Fault("status", 200, ECHO),
    "dropped": Fault("drop"),
    "cut": Fault("cut"),
    "garbage": Fault("garbage"),
    "reset": Fault("reset"),
    "redirect": Fault("redirect"),
}
# What the next requests come to, whosever: too fast, maintenance, and a token that is none.
IN_TURN = (refusal(429, 429), refusal(503, 100), refusal(401, 10))

BAD: Mapping[str, bytes | None] = {
    "no json": b'{"canary": ',
    "no text": b'"canary"',
    "not utf-8": b'{"canary": "\xff"}',
    "nul": a_reset("nul", device="canary\0"),
    "schema": a_reset("schema", expires_at=TOKEN),
    "url": a_reset("url", url=[TOKEN]),
    "template": a_reset("template", url=f"https://evil.example/?token={TOKEN}"),
    "conflict": a_reset("sent", url=f"{URL}-other"),
    "two addresses": elsewhere("two", "canary@example.com,canary2@example.com"),
    "unknown type": a_reset("type").replace(b"password.reset", b"password.lost"),
    "future": a_reset("future", age=timedelta(days=-2)),
    "too old": a_reset("old", age=timedelta(minutes=31)),
    "not allowed": elsewhere("out", "canary@elsewhere.example"),
    "tombstone": None,
}  # fmt: skip
BAD_HEADERS: Sequence[Headers] = (
    (("sendonce-key", b"canary"),),
    (("idempotency-key", b"a canary"),),
    (("ce_type", b"password.other"), ("ce_id", b"canary")),
    (("type", b"canary\xff"),),
)


async def publish(stack: Stack) -> None:
    """Publish what is sent, what fails in each way, and what no mail comes of, in that order."""
    good = [a_reset(name) for name in ("sent", *BY_RECIPIENT)]
    await stack.publish(
        stack.accounts, [*good, *BAD.values()], partition=0, key=b"canary-key",
        headers=list(HEADERS),
    )  # fmt: skip
    for number, headers in enumerate(BAD_HEADERS):
        await stack.publish(
            stack.accounts, [a_reset(f"headers {number}")], partition=0, headers=list(headers)
        )


# ── Who listens, and asks


@dataclass
class Collector:
    """Where spans go; `bodies` are as they came."""

    url: str = ""
    bodies: list[bytes] = field(default_factory=list)

    async def take(self, request: web.Request) -> web.Response:
        self.bodies.append(await request.read())
        return web.Response(body=b"", content_type="application/x-protobuf")

    def environ(self) -> dict[str, str]:
        return {
            **os.environ,
            "OTEL_EXPORTER_OTLP_ENDPOINT": self.url,
            "OTEL_BSP_SCHEDULE_DELAY": "200",
        }


@asynccontextmanager
async def collecting() -> AsyncIterator[Collector]:
    found = Collector()
    app = web.Application()
    app.router.add_post("/v1/traces", found.take)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    found.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield found
    finally:
        await runner.cleanup()


async def called_back(worker: Worker, mail: str) -> list[int]:
    """Have the provider call: a bounce of the mail, one with a wrong password, and nonsense."""
    port = worker.line("listening for webhooks")["port"]
    url = f"http://127.0.0.1:{port}/webhooks/postmark"
    bounce = {
        "RecordType": "Bounce", "Type": "HardBounce", "MessageID": mail, "Email": address("sent"),
        "Description": ECHO, "Details": ECHO, "Metadata": {"sendonce_key": key_of("sent")},
    }  # fmt: skip
    calls = [(HOOK, orjson.dumps(bounce)), ("canary:no", orjson.dumps(bounce)), (HOOK, b"{canary")]
    return [await _post(url, user, body) for user, body in calls]


async def _post(url: str, user: str, body: bytes) -> int:
    headers = {"Authorization": f"Basic {b64encode(user.encode()).decode()}"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, data=body, headers=headers) as answer,
    ):
        return answer.status


async def asked(worker: Worker) -> str:
    """Return all that the admin port answers, to who may ask and who may not."""
    paths = ("/metrics", "/healthz", "/readyz", "/api/pauses", "/canary")
    return str(await asyncio.gather(*map(worker.get, paths)))


def songs(said: Mapping[str, str]) -> dict[str, str]:
    """Return where a canary sings, and what."""
    at = {name: text.lower().find(CANARY) for name, text in said.items()}
    return {name: said[name][max(0, n - 100) : n + 40] for name, n in at.items() if n >= 0}
