"""One HTTP attempt, and the reading of its failures: the only file that talks to an HTTP provider.

What decides is whether the body's write hook (`oneshot`) fired, which it does with the last piece
of the body: of a mail without files, its only one, which aiohttp sends together with the headers.

    not fired             nothing was sent: TooLate (deadline, called back), else Transient
    fired, no status      nobody knows: Unclear, whatever the exception is called
    a status              the adapter reads it, with as much of the body as came

The hook is also the place of the deadline: comparison and write have no await between them.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from aiohttp import (
    ClientResponse,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
    TCPConnector,
)
from yarl import URL

from consumer import __version__
from consumer.model import (
    Answer,
    Blocked,
    Enclosed,
    Lease,
    Message,
    Prepared,
    Rejected,
    TooLate,
    Transient,
    Unclear,
)
from consumer.providers.base import Adapter, answer_cancellation
from consumer.providers.deadline import Deadline
from consumer.providers.enclosing import refuse_unfit
from consumer.providers.limit import Limit
from consumer.providers.lookups import Lookup, Search, Sighting, Unasked
from consumer.providers.oneshot import OneShot
from consumer.providers.options import Options
from consumer.providers.sockets import provider_socket

ANSWER_LIMIT: Final = 64 * 1024  # bytes read of an answer; the rest can say nothing new
KEEPALIVE: Final = 4.0  # seconds; under the shortest idle timeout in common use (Node's 5 s)
HEADERS: Final = {
    "User-Agent": f"sendonce/{__version__}",
    "Accept-Encoding": "identity",  # answers are small; one that is compressed anyway is read
}
DNS_TTL: Final = 30  # seconds


@dataclass(slots=True)
class Heard:
    """What came of an answer, as far as it came. Status 0: nothing."""

    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)

    async def listen(self, response: ClientResponse) -> None:
        self.status, self.headers = response.status, response.headers
        content = response.content
        while not content.at_eof():  # a small answer is here already, and its end with it
            self.body += await content.readany()
            if len(self.body) >= ANSWER_LIMIT:
                response.close()
                return


class HttpProvider:
    """A provider with an HTTP API: the transport around one adapter."""

    def __init__(self, name: str, options: Options, adapter: Adapter) -> None:
        self.name = name
        self.timeout = options.timeout
        self.concurrency = options.concurrency
        self.rate = options.rate
        self._adapter = adapter
        self._files_limit = options.files_limit
        self._connect_timeout = options.connect_timeout
        self._session: ClientSession | None = None
        self._limit = Limit(self.timeout)

    @property
    def account(self) -> str:
        return self._adapter.account

    @property
    def window(self) -> float:
        return self._adapter.window

    @property
    def lookup(self) -> Lookup | None:
        search = self._adapter.search
        return None if search is None else HttpLookup(search, self._opened, self._limit)

    def renew(self, adapter: Adapter) -> None:
        """Go on with other credentials; what is under way ends with the old ones."""
        self._adapter = adapter

    async def open(self) -> None:
        self._limit = Limit(self.timeout)
        self._session = ClientSession(
            connector=TCPConnector(
                limit=self.concurrency,
                keepalive_timeout=KEEPALIVE,
                ttl_dns_cache=DNS_TTL,
                socket_factory=provider_socket,
            ),
            timeout=ClientTimeout(
                total=None,  # `limit` sees to the rest, a name that does not resolve included
                sock_connect=self._connect_timeout,
                ceil_threshold=math.inf,  # never rounded up
            ),
            headers=HEADERS,
            cookie_jar=DummyCookieJar(),
            trust_env=False,
        )

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    def prepare(self, message: Message, enclosed: Sequence[Enclosed] = ()) -> Prepared | Rejected:
        if not message.attachments and not message.templates:  # nearly always
            return self._adapter.request(message)
        template = message.templates.get(self.name)
        refused = refuse_unfit(message, enclosed, self._files_limit, template)
        return refused or self._adapter.request(message, enclosed, template)

    async def attempt(self, prepared: Prepared, lease: Lease, until: float = math.inf) -> Answer:
        adapter, heard = self._adapter, Heard()
        body = OneShot(prepared.body, Deadline(lease, until, self.timeout))
        try:
            signed = await adapter.sign(prepared)
            if isinstance(signed, Transient | Blocked):
                return signed
            await self._exchange(prepared, signed, body, heard)
        except asyncio.CancelledError:
            answer_cancellation()
            return _loss(adapter, heard, body, TooLate(called_back=True), "called back")
        except Exception as problem:  # noqa: BLE001 - the hook decides, not the exception's class
            return _loss(adapter, heard, body, Transient(_kind(problem)), _kind(problem))
        return _read(adapter, heard)

    async def _exchange(
        self, prepared: Prepared, signed: Mapping[str, str], body: OneShot, heard: Heard
    ) -> None:
        with self._limit.on_this():
            async with self._opened().post(
                URL(prepared.url, encoded=True),
                data=body,
                headers={**prepared.headers, **signed},
                allow_redirects=False,
            ) as response:
                await heard.listen(response)

    def _opened(self) -> ClientSession:
        if self._session is None:
            raise RuntimeError("the provider is not open")
        return self._session


class HttpLookup:
    """Ask by GET: the library may repeat it as it likes."""

    def __init__(self, search: Search, session: Callable[[], ClientSession], limit: Limit) -> None:
        self.visible_after = search.visible_after
        self.absence_proves = search.absence_proves
        self._search = search
        self._session = session
        self._limit = limit

    async def look_up(self, message: Message) -> Sighting:
        question, heard = self._search.question(message), Heard()
        url = URL(question.url, encoded=True)
        try:
            with self._limit.on_this():
                async with self._session().get(
                    url, headers=question.headers, allow_redirects=False
                ) as response:
                    await heard.listen(response)
            return self._search.sighting(message, heard.status, bytes(heard.body))
        except Exception as problem:  # noqa: BLE001 - whatever it was, nothing was learned
            return Unasked(_kind(problem))


def _loss(adapter: Adapter, heard: Heard, body: OneShot, unsent: Answer, why: str) -> Answer:
    """Read an attempt that ended without a whole answer. `unsent`: if nothing had left."""
    body.revoke()
    if heard.status:
        return _read(adapter, heard)
    if body.fired:
        return Unclear(f"{adapter.account.partition(':')[0]}: {why}")
    return TooLate() if body.late else unsent


def _read(adapter: Adapter, heard: Heard) -> Answer:
    try:
        return adapter.read(heard.status, heard.headers, bytes(heard.body))
    except Exception as bug:  # noqa: BLE001 - an answer that breaks its reader proves nothing
        return Unclear(f"HTTP {heard.status}, unreadable ({_kind(bug)})")


def _kind(problem: BaseException) -> str:
    """Name a failure by its class: its text may quote addresses."""
    return type(problem).__name__
