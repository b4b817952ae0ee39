"""The API of pauses: only the token of now gets in, and every answer tells what stands."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from consumer.admin import AdminPages, Health, Listener, PauseDesk
from consumer.model import MailType
from consumer.pauses import Pauses
from consumer.telemetry import Metrics
from tests.unit.pausing import Table

SIGNED = {"by": "ada", "why": "wrong prices"}
KINDS = (
    MailType("order.receipt", "orders", ("postmark",), "shop", max_age=60.0),
    MailType("order.sent", "orders", ("ses",), "shop", max_age=60.0),
)


class Door:
    """What a person asks, with the token of `tokens`."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self.token = "right"
        self._url, self._session = url, session

    async def __call__(
        self, method: str, path: str = "", body: object = None
    ) -> tuple[int, dict[str, Any]]:
        headers = {"Authorization": f"Bearer {self.token}"}
        async with self._session.request(
            method, f"{self._url}/api/pauses{path}", json=body, headers=headers
        ) as response:
            return response.status, await response.json()


@asynccontextmanager
async def opened(desk: PauseDesk) -> AsyncIterator[Door]:
    pages = AdminPages(Health(), Metrics()).app(desk.routes())
    listener = Listener(pages, "admin", "127.0.0.1", 0, closing=2.0)
    await listener.start()
    try:
        async with aiohttp.ClientSession() as session:
            yield Door(f"http://127.0.0.1:{listener.port}", session)
    finally:
        await listener.close()


@pytest.fixture
def pauses() -> Pauses:
    return Pauses(KINDS)


@pytest.fixture
async def door(pauses: Pauses) -> AsyncIterator[Door]:
    desk = PauseDesk(lambda: "right", pauses)
    desk.table = Table()
    async with opened(desk) as door:
        yield door


async def test_a_pause_is_obeyed_by_this_worker_before_it_is_answered(
    door: Door, pauses: Pauses
) -> None:
    status, told = await door("PUT", "/type/order.receipt", SIGNED)
    assert status == 200
    assert pauses.stops("order.receipt", "postmark")
    [one] = told["paused"]
    assert one == {
        "scope": "type", "name": "order.receipt", "since": "2026-03-01T00:00:00+00:00", **SIGNED
    }  # fmt: skip
    assert told["stops"] == {
        "stopped": ["order.receipt"], "behind": ["order.sent"], "elsewhere": {}, "parked": 3
    }  # fmt: skip
    assert await door("GET") == (200, told)
    assert await door("DELETE", "/type/order.receipt") == (
        200,
        {"paused": [], "stops": {"stopped": [], "behind": [], "elsewhere": {}, "parked": 0}},
    )
    assert not pauses.any


async def test_everything_and_a_provider(door: Door, pauses: Pauses) -> None:
    assert (await door("PUT", "/all", SIGNED))[0] == 200
    assert pauses.stands_still()
    assert (await door("DELETE", "/all"))[0] == 200
    assert (await door("PUT", "/provider/ses", SIGNED))[0] == 200
    assert pauses.stops("order.sent", "ses")
    assert not pauses.stands_still()


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "problem"),
    [
        ("PUT", "/type/order.receit", SIGNED, 404, "there is no type order.receit"),
        ("PUT", "/provider/mailgun", SIGNED, 404, "there is no provider mailgun"),
        ("DELETE", "/all", None, 404, "all is not paused"),
        ("PUT", "/all", {"by": "ada"}, 400, "who and why"),
        ("PUT", "/all", {"by": " ", "why": "x"}, 400, "who and why"),
        ("PUT", "/all", [], 400, "who and why"),
        ("PUT", "/all", None, 400, "who and why"),
    ],
)
async def test_what_is_wrong_is_told_and_changes_nothing(
    door: Door, pauses: Pauses, method: str, path: str, body: object, status: int, problem: str
) -> None:
    answered, told = await door(method, path, body)
    assert answered == status
    assert problem in told["problem"]
    assert not pauses.any


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_nobody_gets_in_without_the_token(method: str, pauses: Pauses) -> None:
    token: list[str | None] = [None]
    desk = PauseDesk(lambda: token[0], pauses)
    desk.table = Table()
    path = "" if method == "GET" else "/all"
    async with opened(desk) as door:
        assert (await door(method, path, SIGNED))[0] == 403
        token[0] = "right"
        for wrong in ("", "wrong", "righ", "rights"):
            door.token = wrong
            assert (await door(method, path, SIGNED))[0] == 401
    assert not pauses.any


async def test_a_rotated_token_counts_at_once(pauses: Pauses) -> None:
    token = ["right"]
    desk = PauseDesk(lambda: token[0], pauses)
    desk.table = Table()
    async with opened(desk) as door:
        assert (await door("GET"))[0] == 200
        token[0] = "new"
        assert (await door("GET"))[0] == 401
        door.token = "new"
        assert (await door("GET"))[0] == 200


async def test_before_postgres_is_reached_it_says_so(pauses: Pauses) -> None:
    async with opened(PauseDesk(lambda: "right", pauses)) as door:
        assert (await door("PUT", "/all", SIGNED))[0] == 503
