"""Stopping and going on, over the admin port: for the console, and for a script at night.

    GET    /api/pauses                       what is paused, and what stops with it
    PUT    /api/pauses/all                   {"by": NAME, "why": TEXT}
    PUT    /api/pauses/type/NAME             /api/pauses/provider/NAME
    DELETE the same paths                    it goes on

Every answer to a valid request is what GET tells, after it. With a bearer token only.
"""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import orjson
from aiohttp import web

from consumer.guard.pauses import PauseTable, Scope, Target
from consumer.pauses import Pauses, facts, unknown

Answer: TypeAlias = Callable[[web.Request], Awaitable[web.Response]]
BODY_LIMIT = 64 * 1024  # bytes
SCHEME = "bearer "


class PauseDesk:
    """`token`: as it is by now; None: this API is off. `table`: None until Postgres is reached."""

    def __init__(self, token: Callable[[], str | None], pauses: Pauses) -> None:
        self._token = token
        self._pauses = pauses
        self.table: PauseTable | None = None

    def routes(self) -> list[web.RouteDef]:
        one = "/api/pauses/{scope:type|provider}/{name}"
        everything = "/api/pauses/{scope:all}"
        return [
            web.get("/api/pauses", self._known(self._tell)),
            *(web.put(path, self._known(self._pause)) for path in (everything, one)),
            *(web.delete(path, self._known(self._resume)) for path in (everything, one)),
        ]

    def _known(self, answer: Answer) -> Answer:
        """Let in only who has the token, and only while the table can be read."""

        async def answer_known(request: web.Request) -> web.Response:
            token = self._token()
            if token is None:
                return _problem(403, "this API is off: set admin.token")
            if not _is(token, request.headers.get("Authorization", "")):
                return _problem(401, "a bearer token is needed", {"WWW-Authenticate": "Bearer"})
            if self.table is None:
                return _problem(503, "Postgres is not reached yet")
            return await answer(request)

        return answer_known

    async def _tell(self, _request: web.Request) -> web.Response:
        return _json(200, await self._facts())

    async def _pause(self, request: web.Request) -> web.Response:
        target, signed = _target(request), _signed(await request.content.read(BODY_LIMIT))
        if signed is None:
            return _problem(400, 'who and why? {"by": NAME, "why": TEXT}')
        if why := unknown(target, self._pauses):
            return _problem(404, why)
        await self._open.put(target, *signed)
        return await self._tell(request)

    async def _resume(self, request: web.Request) -> web.Response:
        if await self._open.lift(_target(request)) is None:
            return _problem(404, f"{_target(request)} is not paused")
        return await self._tell(request)

    async def _facts(self) -> Mapping[str, Any]:
        self._pauses.take(await self._open.read())  # this worker obeys at once
        return facts(self._pauses, await self._open.parked())

    @property
    def _open(self) -> PauseTable:
        assert self.table is not None, "asked for before it was opened"
        return self.table


def _is(token: str, authorization: str) -> bool:
    scheme, given = authorization[: len(SCHEME)], authorization[len(SCHEME) :]
    return scheme.lower() == SCHEME and hmac.compare_digest(given.encode(), token.encode())


def _target(request: web.Request) -> Target:
    return Target(Scope(request.match_info["scope"]), request.match_info.get("name", ""))


def _signed(body: bytes) -> tuple[str, str] | None:
    try:
        said = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    match said:
        case {"by": str(by), "why": str(why)} if by.strip() and why.strip():
            return by, why
        case _:
            return None


def _problem(status: int, text: str, headers: Mapping[str, str] | None = None) -> web.Response:
    return _json(status, {"problem": text}, headers)


def _json(status: int, value: object, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(
        body=orjson.dumps(value),
        status=status,
        content_type="application/json",
        headers={"Cache-Control": "no-store", **(headers or {})},
    )
