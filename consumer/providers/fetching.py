"""Fetching the files that a mail brings along: whole, verified, and within bounds.

An event names each file by a URL and its digest. Only hosts that the mail type lists are asked,
over TLS (but for this very machine, in tests and demos); redirects are followed where they lead to
a listed host as well. What comes is read no further than `max_size`, and held against the digest.

A failure is no exception: `Unfetched`, which makes the mail's attempt one that certainly did not
send. A file that is not there now may be there in an hour, so a 404 or a wrong digest is tried
again like everything else. Nothing of a URL is ever told: it may be signed.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from aiohttp import ClientResponse, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector, hdrs
from yarl import URL

from consumer import __version__
from consumer.model import Attachment, Enclosed
from consumer.providers.allowance import Allowance, Share

# Bytes of files in memory, of all mails of a worker, as they were fetched. Until its attempt is
# over a mail holds a third more than its files, which is what they take encoded; while it is
# encoded, about four times as much, one mail at a time.
IN_HAND: Final = 32 << 20
TIMEOUT: Final = 20.0  # seconds, for all files of a mail; a step of the resolver takes no longer
CONNECT_TIMEOUT: Final = 5.0  # seconds, inside it
REDIRECTS: Final = 3
CHUNK: Final = 64 * 1024
HEADERS: Final = {"User-Agent": f"sendonce/{__version__}", "Accept-Encoding": "identity"}

_HERE: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_PRINTABLE: Final = re.compile(r"[!-~]{1,8192}")
_MOVED: Final = frozenset({301, 302, 303, 307, 308})


class _NotFetchedError(Exception):
    """Why there is no file; the text quotes nothing of its URL."""


@dataclass(slots=True)
class Fetched:
    """The files of one mail, held in memory until they are given back."""

    _enclosed: tuple[Enclosed, ...]
    _share: Share = field(repr=False)

    def hand_over(self) -> tuple[Enclosed, ...]:
        """Return the files, once: what is made of them is held from here on, and they are not."""
        enclosed, self._enclosed = self._enclosed, ()
        return enclosed

    def give_back(self) -> None:
        self._enclosed = ()
        self._share.give_back()


@dataclass(frozen=True, slots=True)
class Unfetched:
    """At least one file is not to be had now. `error`: which one, and why."""

    error: str

    def give_back(self) -> None:
        """Nothing is held."""


Files: TypeAlias = Fetched | Unfetched


class Fetcher:
    """Fetches for a worker. Opens a session when there is something to fetch for the first time."""

    def __init__(self, in_hand: int = IN_HAND, timeout: float = TIMEOUT) -> None:
        self._allowance = Allowance(in_hand)
        self._timeout = timeout
        self._session: ClientSession | None = None

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def fetch(self, attachments: Sequence[Attachment]) -> Files:
        """Fetch all of them, in their order, or say which one cannot be had.

        Waits while other mails hold too much. Never raises, except when cancelled.
        """
        share = await self._allowance.take(sum(each.max_size for each in attachments))
        fetched: Fetched | None = None
        try:
            enclosed = await self._all(attachments)
            fetched = Fetched(enclosed, share)
            share.shrink(sum(len(each.content) for each in enclosed))
        except _NotFetchedError as why:
            return Unfetched(str(why))
        finally:
            if fetched is None:
                share.give_back()
        return fetched

    async def _all(self, attachments: Sequence[Attachment]) -> tuple[Enclosed, ...]:
        enclosed: list[Enclosed] = []
        try:
            async with asyncio.timeout(self._timeout):
                while len(enclosed) < len(attachments):
                    each = attachments[len(enclosed)]
                    enclosed.append(Enclosed(each, await self._one(each)))
        except TimeoutError:
            why = f"no answer within {self._timeout:g} s"
        except _NotFetchedError as known:
            why = str(known)
        except Exception as problem:  # noqa: BLE001 - whatever it was, there is no file
            why = type(problem).__name__  # its text may quote the URL
        else:
            return tuple(enclosed)
        raise _NotFetchedError(f"attachment {len(enclosed) + 1}: {why}")

    async def _one(self, attachment: Attachment) -> bytes:
        url = _checked(attachment, attachment.url)
        for _ in range(1 + REDIRECTS):
            async with self._opened().get(url, allow_redirects=False) as response:
                if response.status not in _MOVED:
                    return await _read(attachment, response)
                where = response.headers.get(hdrs.LOCATION, "")
                url = _checked(attachment, str(url.join(URL(where, encoded=True))))
        raise _NotFetchedError("redirected too often")

    def _opened(self) -> ClientSession:
        if self._session is None:
            self._session = ClientSession(
                connector=TCPConnector(limit=0),  # the allowance is the limit
                timeout=ClientTimeout(
                    total=None, sock_connect=CONNECT_TIMEOUT, ceil_threshold=math.inf
                ),
                headers=HEADERS,
                cookie_jar=DummyCookieJar(),
                auto_decompress=False,  # the digest is of what is there, not of what it unfolds to
                trust_env=False,
            )
        return self._session


def _checked(attachment: Attachment, text: str) -> URL:
    """Return the URL if it may be asked."""
    if not _PRINTABLE.fullmatch(text):
        raise _NotFetchedError("its URL is malformed")
    try:
        url = URL(text, encoded=True)
        host, port = (url.raw_host or "").lower(), url.port
    except ValueError:
        raise _NotFetchedError("its URL is malformed") from None
    if url.user is not None or url.password is not None:
        raise _NotFetchedError("its URL carries a login")
    if url.scheme != "https" and not (url.scheme == "http" and host in _HERE):
        raise _NotFetchedError("its URL is not https")
    names = {f"{host}:{port}", *([host] if url.is_default_port() else ())}
    if names.isdisjoint(attachment.hosts):
        raise _NotFetchedError("its URL leads to a host that its mail type does not list")
    return url


async def _read(attachment: Attachment, response: ClientResponse) -> bytes:
    """Read no further than the file may be large; then compare digests."""
    if response.status != 200:  # noqa: PLR2004 - whatever else has a body is not the file
        raise _NotFetchedError(f"HTTP {response.status}")
    if response.headers.get(hdrs.CONTENT_ENCODING, "identity").lower() != "identity":
        raise _NotFetchedError("it comes encoded")
    _fits(attachment, response.content_length or 0)
    content = bytearray()
    async for chunk in response.content.iter_chunked(CHUNK):
        content += chunk
        _fits(attachment, len(content))
    if hashlib.sha256(content).hexdigest() != attachment.sha256:
        raise _NotFetchedError(f"{len(content)} bytes came, whose SHA-256 is another")
    return bytes(content)


def _fits(attachment: Attachment, size: int) -> None:
    if size > attachment.max_size:
        raise _NotFetchedError(f"it is larger than {attachment.max_size} bytes")
