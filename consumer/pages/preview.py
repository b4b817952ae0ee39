"""The mails while somebody writes them: a page on this machine that reloads when a file changes.

A mistake does not end it: the page then says what is wrong and where, above the mails as they last
were.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Final

from aiohttp import web

from consumer.model import Message
from consumer.pages.paper import printed
from consumer.pages.proofs import Fault, Proof, faults, headers, hosted, in_scheme
from consumer.pages.watching import Stamp, stamp

LOOK: Final = 0.3  # seconds between two looks at the files
_SIGN_OF_LIFE: Final = 15.0  # seconds; a silent stream is cut by some browsers
_HOSTS: Final = ("127.0.0.1", "localhost")  # no other name leads here but by somebody's trick
_WIDTHS: Final = (375, 800)

Load = Callable[[], Sequence[Proof]]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Edition:
    """What is shown. `name` differs for each, also over restarts."""

    proofs: Sequence[Proof] = ()
    wrong: Sequence[Fault] = ()
    name: str = field(default_factory=lambda: secrets.token_hex(8))


class Preview:
    """`roots()`: what to look at for changes; the first is the catalogue's folder.

    `load()` is called in a thread, once a change; what it raises is shown.
    """

    def __init__(self, roots: Callable[[], Sequence[Path]], load: Load, look: float = LOOK) -> None:
        self._roots = roots
        self._load = load
        self._look = look
        self._places = roots()
        self._changed = asyncio.Condition()
        self.edition = Edition()

    def app(self) -> web.Application:
        app = web.Application(middlewares=[_local_only])
        app.add_routes([web.get("/", self._page), web.get("/changes", self._changes)])
        return app

    async def watch(self) -> None:
        """Look for changes for ever."""
        before: Stamp | None = None
        while True:
            now = await asyncio.to_thread(stamp, self._places)
            if now != before:
                before = now
                await self._publish(await asyncio.to_thread(self._next))
            await asyncio.sleep(self._look)

    def _next(self) -> Edition:
        self._places = self._roots()  # a changed configuration may name another folder
        try:
            return Edition(self._load())
        except Exception as error:  # noqa: BLE001 - half a file, saved: shown, and looked at again
            return Edition(self.edition.proofs, faults(error, self._places[0]))

    async def _publish(self, edition: Edition) -> None:
        async with self._changed:
            self.edition = edition
            self._changed.notify_all()

    async def _page(self, request: web.Request) -> web.Response:
        shown = self._chosen(request.query.get("mail", ""))
        dark = "dark" in request.query
        page = printed(
            "preview.html.j2",
            edition=self.edition.name,
            names=[proof.name for proof in self.edition.proofs],
            wrong=[_told(fault) for fault in self.edition.wrong],
            dark=dark,
            shown=shown and _facts(shown, dark=dark),
        )
        return web.Response(text=page, content_type="text/html", headers=_HEADERS)

    def _chosen(self, name: str) -> Proof | None:
        proofs = self.edition.proofs
        first = proofs[0] if proofs else None
        return next((proof for proof in proofs if proof.name == name), first)

    async def _changes(self, request: web.Request) -> web.StreamResponse:
        """Tell a page, by server-sent events, that it is not the newest any more."""
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
        )
        await response.prepare(request)
        known = request.query.get("edition", "")
        with suppress(ConnectionResetError):
            while True:
                changed = await self._differs(known)
                await response.write(b"data: changed\n\n" if changed else b": here\n\n")
                known = self.edition.name
        return response

    async def _differs(self, known: str) -> bool:
        """Wait until the edition is another one; False: not within a sign of life."""
        try:
            async with asyncio.timeout(_SIGN_OF_LIFE), self._changed:
                await self._changed.wait_for(lambda: self.edition.name != known)
        except TimeoutError:
            return False
        return True


# The mails are shown as what they are to a reader: no script, no form, no way out.
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; connect-src 'self'; img-src https: data:; font-src https:; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'",
}


@web.middleware
async def _local_only(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer to this machine's own name: no page of elsewhere reads mails through a browser."""
    name, _, _ = request.host.rpartition(":")
    if name not in _HOSTS:
        return web.Response(status=HTTPStatus.FORBIDDEN, text="only on this machine\n")
    return await handler(request)


def _told(fault: Fault) -> dict[str, object]:
    return {"text": fault.text, "line": fault.line, "excerpt": fault.excerpt}


def _facts(proof: Proof, *, dark: bool) -> dict[str, object]:
    if not isinstance(proof.mail, Message):
        return {"name": proof.name, "why": proof.mail}
    message = proof.mail
    return {
        "name": proof.name,
        "why": None,
        "subject": message.subject,
        "headers": headers(message),
        "key": message.key,
        "tags": message.tags,
        "templates": hosted(message),
        "attachments": [f"{one.name} ({one.content_type})" for one in message.attachments],
        "text": message.text,
        "html": in_scheme(message.html, dark=dark),
        "widths": _WIDTHS,
        "size": len(message.html.encode()),
    }
