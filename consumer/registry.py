"""The schema registry: asked once for each id, remembered for good.

    learn(id)   waits until it is known, however long the registry is away
    glance(id)  waits until it is known, or until one request was in vain

One request is in flight for an id, whoever waits for it, and goes on when they are called back. A
registry that is away, refuses our credentials, or answers with something else than the registry's
own words keeps records waiting and makes no dead letter. Only its own "there is no such schema" is
an answer, and is believed when it came three times: a follower may not have heard of an id yet.
"""

from __future__ import annotations

import asyncio
import random
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import aiohttp
import orjson
import structlog
from aiohttp import encode_basic_auth

from consumer.model import NoSchema, Schema, elapsed

log = structlog.get_logger("registry")

DOUBTS: Final = 3  # answers "no such schema" until one is believed
FORGET: Final = 60.0  # seconds that such an answer is kept: the id may be registered yet
LONGEST: Final = 4_194_304  # bytes of an answer
# Subject, version or schema not found, in the registry's own numbers.
_ABSENT: Final = frozenset({40401, 40402, 40403})


@dataclass(frozen=True, slots=True)
class Access:
    """Where the registry is and how it is entered. Durations in seconds."""

    url: str
    login: Callable[[], tuple[str, str] | None] = lambda: None  # name, password; at each request
    cafile: Path | None = None
    timeout: float = 10.0
    first_pause: float = 0.5  # before the second request; doubles
    longest_pause: float = 15.0


class _AwayError(Exception):
    """No answer that says anything about the schema."""


class _AbsentError(Exception):
    """The registry says that there is none."""


@dataclass(slots=True)
class _Question:
    work: asyncio.Task[None]
    tried: asyncio.Event = field(default_factory=asyncio.Event)  # one request was in vain


class Registry:
    """A client. `known` is read by the decoder, which is told of nothing else."""

    def __init__(self, access: Access) -> None:
        self.known: dict[int, Schema | NoSchema] = {}
        self.away_since: datetime | None = None
        self._access = access
        self._away_from = 0.0
        self._questions: dict[int, _Question] = {}
        self._session: aiohttp.ClientSession | None = None

    async def aclose(self) -> None:
        """Ask no more; who still waits is cancelled."""
        works = [question.work for question in self._questions.values()]
        for work in works:
            work.cancel()
        await asyncio.gather(*works, return_exceptions=True)
        if self._session is not None:
            await self._session.close()
            self._session = None

    @property
    def away(self) -> float:
        """Seconds since the registry stopped answering; 0.0: it answers, or was not asked."""
        return 0.0 if self.away_since is None else elapsed() - self._away_from

    async def learn(self, number: int) -> None:
        """Return when `known` holds the schema, or that there is none. May be cancelled."""
        while number not in self.known:
            await asyncio.shield(self._question(number).work)

    async def glance(self, number: int) -> bool:
        """Return whether it is known; False after one request in vain, made now or before."""
        if number not in self.known:
            await self._question(number).tried.wait()
        return number in self.known

    def _question(self, number: int) -> _Question:
        question = self._questions.get(number)
        if question is None:
            question = _Question(asyncio.create_task(self._ask(number)))
            question.work.add_done_callback(lambda _: self._answered(number))
            self._questions[number] = question
        return question

    def _answered(self, number: int) -> None:
        self._questions.pop(number).tried.set()

    async def _ask(self, number: int) -> None:
        """Ask until there is an answer, with longer and longer pauses."""
        pause, doubts = self._access.first_pause, 0
        while True:
            try:
                found: Schema | NoSchema = await self._schema(number)
                break
            except _AwayError as away:
                self._went_away(str(away))
                self._questions[number].tried.set()
            except _AbsentError:
                self._came_back()
                doubts += 1
                if doubts == DOUBTS:
                    found = NoSchema()
                    break
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - jitter, no secret
            pause = min(2 * pause, self._access.longest_pause)
        self._came_back()
        self._remember(number, found)

    def _remember(self, number: int, found: Schema | NoSchema) -> None:
        self.known[number] = found
        if isinstance(found, NoSchema):
            log.warning("no such schema", schema=number)
            asyncio.get_running_loop().call_later(FORGET, self.known.pop, number, None)

    def _went_away(self, error: str) -> None:
        if self.away_since is None:
            self.away_since, self._away_from = datetime.now(UTC), elapsed()
            log.error("registry away", error=error, alert="registry")

    def _came_back(self) -> None:
        if self.away_since is not None:
            log.info("registry back", seconds=round(self.away, 1))
            self.away_since = None

    # ── Its answers

    async def _schema(self, number: int) -> Schema:
        answer = await self._get(f"/schemas/ids/{number}")
        kind = answer.get("schemaType") or "AVRO"  # which the oldest registries do not say
        references: dict[tuple[str, int], str] = {}
        if kind == "AVRO":  # what JSON refers to, nobody needs: our own schemas judge it
            await self._gather(answer, references)
        return Schema(str(kind), _text(answer), tuple(references.values()))

    async def _gather(self, answer: Mapping[str, Any], found: dict[tuple[str, int], str]) -> None:
        """Collect what a schema refers to, depth first."""
        for reference in answer.get("references") or ():
            subject, version = _place(reference)
            if (subject, version) in found:
                continue
            path = f"/subjects/{quote(subject, safe='')}/versions/{version}?deleted=true"
            inner = await self._get(path)
            await self._gather(inner, found)
            found[subject, version] = _text(inner)

    async def _get(self, path: str) -> Mapping[str, Any]:
        url = self._access.url.rstrip("/") + path
        try:
            headers = self._entry()
            async with self._opened().get(url, headers=headers, allow_redirects=False) as response:
                body = await response.content.read(LONGEST)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _AwayError(type(error).__name__) from None
        return _read(response.status, body)

    def _entry(self) -> Mapping[str, str]:
        login = self._access.login()
        return {} if login is None else {"Authorization": encode_basic_auth(*login)}

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = _session(self._access)
        return self._session


def _session(access: Access) -> aiohttp.ClientSession:
    trust = ssl.create_default_context(cafile=access.cafile)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(ssl=trust, limit=4),
        timeout=aiohttp.ClientTimeout(total=access.timeout),
        headers={"Accept": "application/vnd.schemaregistry.v1+json, application/json"},
        cookie_jar=aiohttp.DummyCookieJar(),
    )


def _read(status: int, body: bytes) -> Mapping[str, Any]:
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        answer = None
    if not isinstance(answer, dict):
        raise _AwayError(f"answered {status}, and nothing of a registry's")
    if status == 404 and answer.get("error_code") in _ABSENT:  # noqa: PLR2004 - HTTP's own number
        raise _AbsentError
    if status != 200 or not isinstance(answer.get("schema"), str):  # noqa: PLR2004 - likewise
        raise _AwayError(f"answered {status}")
    return answer


def _text(answer: Mapping[str, Any]) -> str:
    return str(answer["schema"])


def _place(reference: Any) -> tuple[str, int]:
    try:
        return str(reference["subject"]), int(reference["version"])
    except (LookupError, TypeError, ValueError):
        raise _AwayError("named a reference without subject or version") from None
