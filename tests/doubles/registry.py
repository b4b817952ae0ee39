"""A schema registry: what Confluent's serializers register at it, and what a consumer asks for.

Used as `async with RegistryDouble() as registry: ... registry.url`.

    away     True: it answers 503 from now on, and sets `asked_in_vain` at each request
    asked    how often each path was asked for
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import orjson
from aiohttp import encode_basic_auth, web

from tests.doubles.served import Served

KIND = "application/vnd.schemaregistry.v1+json"


class RegistryDouble(Served):
    def __init__(self, login: tuple[str, str] | None = None) -> None:
        super().__init__()
        self.away = False
        self.status_away = 503
        self.asked: Counter[str] = Counter()
        self.asked_once = asyncio.Event()
        self.asked_in_vain = asyncio.Event()
        self.schemas: list[dict[str, Any]] = []  # its id is its place, from 1
        self.subjects: dict[str, list[int]] = {}
        self._login = login

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    def register(
        self, schema: object, kind: str = "AVRO", subject: str = "s", references: object = None
    ) -> int:
        """Return the id of a schema; the same one gets the same id."""
        text = schema if isinstance(schema, str) else orjson.dumps(schema).decode()
        held = {"schema": text, "schemaType": kind, "references": references or []}
        if held not in self.schemas:
            self.schemas.append(held)
        number = self.schemas.index(held) + 1
        versions = self.subjects.setdefault(subject, [])
        if number not in versions:
            versions.append(number)
        return number

    async def _handle(self, request: web.BaseRequest) -> web.Response:
        self.asked[request.path] += 1
        self.asked_once.set()
        if self.away:
            self.asked_in_vain.set()
            return web.Response(status=self.status_away, text="upstream connect error")
        if self._login is not None and not self._lets_in(request):
            return _error(401, 40101, "Unauthorized")
        body = await request.read()
        return self._answer(request.method, request.path.strip("/").split("/"), body)

    def _lets_in(self, request: web.BaseRequest) -> bool:
        given = request.headers.get("Authorization")
        assert self._login is not None
        return given == encode_basic_auth(*self._login)

    def _answer(self, method: str, path: list[str], body: bytes) -> web.Response:
        match method, path:
            case "POST", ["subjects", subject, "versions"]:
                return self._registered(subject, orjson.loads(body))
            case "GET", ["schemas", "ids", number]:
                return self._by_id(int(number))
            case "GET", ["subjects", subject, "versions", version]:
                return self._by_version(subject, int(version))
            case _:
                return _error(404, 404, "HTTP 404 Not Found")

    def _registered(self, subject: str, body: dict[str, Any]) -> web.Response:
        kind = body.get("schemaType", "AVRO")
        number = self.register(body["schema"], kind, subject, body.get("references"))
        guid = str(uuid5(NAMESPACE_URL, str(number)))
        return _json({"id": number, "version": 1, "guid": guid, "schemaType": kind, **body})

    def _by_id(self, number: int) -> web.Response:
        if not 0 < number <= len(self.schemas):
            return _error(404, 40403, f"Schema {number} not found")
        held = {name: value for name, value in self.schemas[number - 1].items() if value}
        if held["schemaType"] == "AVRO":
            del held["schemaType"]  # as the real one leaves it out
        return _json(held)

    def _by_version(self, subject: str, version: int) -> web.Response:
        versions = self.subjects.get(subject, [])
        if not 0 < version <= len(versions):
            return _error(404, 40402, f"Version {version} not found.")
        number = versions[version - 1]
        return _json(
            {"subject": subject, "version": version, "id": number, **self.schemas[number - 1]}
        )


def _json(value: object, status: int = 200) -> web.Response:
    return web.Response(status=status, body=orjson.dumps(value), content_type=KIND)


def _error(status: int, code: int, message: str) -> web.Response:
    return _json({"error_code": code, "message": message}, status)
