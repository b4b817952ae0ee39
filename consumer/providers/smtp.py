"""Any SMTP submission server (RFC 6409).

Our key travels in the Message-ID, which relays ignore and some mailboxes collapse by. There is no
idempotency and nobody to ask: what fails before the final dot is certainly not sent, silence after
it is unknown for good. Give `timeout` room: RFC 5321 lets a server think for ten minutes after the
dot, and every impatience there is a mail that a person has to look at. How large a mail may be, the
server says when it is spoken to (RFC 1870).
"""

from __future__ import annotations

import asyncio
import math
import socket
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import Field, SecretStr, model_validator

from consumer.model import (
    Answer,
    Enclosed,
    Lease,
    Message,
    Prepared,
    Rejected,
    TooLate,
    Transient,
    Unclear,
)
from consumer.providers.base import answer_cancellation, prepared
from consumer.providers.deadline import Deadline
from consumer.providers.enclosing import refuse_unfit
from consumer.providers.fields import refuse
from consumer.providers.mime import render
from consumer.providers.options import Options
from consumer.providers.smtp_connection import Connection, RefusedError, Server, Tls, connect

LINE_LIMIT: Final = 998  # octets without CRLF (RFC 5322, section 2.1.1)
PORTS: Final = {"none": 25, "starttls": 587, "implicit": 465}
_HERE: Final = {"localhost", "127.0.0.1", "::1"}


class SmtpOptions(Options):
    """[providers.X] with type = "smtp".

    `tls`: "starttls" (default; never goes on without), "implicit" or "none". `ca_file`: for a
    server whose certificate a private authority signed. `hello`: our name in EHLO.
    """

    type: Literal["smtp"] = "smtp"
    host: str
    port: Annotated[int, Field(ge=1, le=65535)] | None = None
    username: str | None = None
    password: SecretStr | None = None
    tls: Tls = "starttls"
    ca_file: Path | None = None
    hello: str | None = None

    @model_validator(mode="after")
    def a_password_travels_encrypted(self) -> Self:
        if (self.username is None) != (self.password is None):
            raise ValueError("username and password go together")
        if self.password is not None and self.tls == "none" and self.host not in _HERE:
            raise ValueError('a password needs tls = "starttls" or "implicit"')
        return self


class Flight:
    """One attempt: whether the last piece of the mail, with its final dot, has left."""

    def __init__(self, deadline: Deadline) -> None:
        self.fired = False
        self._deadline = deadline

    def may_go(self, *, last: bool) -> None:
        """Raise if it is too late; else the next thing that happens is the write of a piece."""
        if self.late:
            raise RefusedError(TooLate())
        self.fired = last

    @property
    def late(self) -> bool:
        return self._deadline.passed


class SmtpProvider:
    window = 0.0
    lookup = None

    def __init__(self, name: str, options: SmtpOptions) -> None:
        self.name = name
        self.timeout = options.timeout
        self.concurrency = options.concurrency
        self.rate = options.rate
        who = f"{options.username}@{options.host}" if options.username else options.host
        self.account = f"smtp:{options.account or who}"
        self._files_limit = options.files_limit
        self._options = options
        self._server: Server | None = None
        self._idle: list[Connection] = []

    async def open(self) -> None:
        self._server = await asyncio.to_thread(_server, self._options)

    async def renew(self, options: SmtpOptions) -> None:
        """Go on with other credentials; connections that are in use end with the old ones."""
        self._server, self._options = await asyncio.to_thread(_server, options), options
        await self.close()

    async def close(self) -> None:
        while self._idle:
            self._idle.pop().abort()

    def prepare(self, message: Message, enclosed: Sequence[Enclosed] = ()) -> Prepared | Rejected:
        refused = refuse(message, utf8_local=True)  # the server decides, see SMTPUTF8
        refused = refused or refuse_unfit(message, enclosed, self._files_limit)
        if refused is not None:
            return refused
        body = render(message, enclosed)
        if any(len(line) > LINE_LIMIT for line in body.split(b"\r\n")):
            return Rejected(f"a header's line is longer than {LINE_LIMIT} octets")
        return prepared(message, "", body, enclosed=enclosed)

    async def attempt(self, prepared: Prepared, lease: Lease, until: float = math.inf) -> Answer:
        flight = Flight(Deadline(lease, until, self.timeout))
        try:
            async with asyncio.timeout(self.timeout):
                return await self._fly(prepared, flight)
        except RefusedError as refusal:
            return refusal.answer
        except asyncio.CancelledError:
            answer_cancellation()
            return Unclear("smtp: called back") if flight.fired else TooLate(called_back=True)
        except Exception as problem:  # noqa: BLE001 - what left decides, not the exception's class
            error = f"smtp: {type(problem).__name__}"
            return Unclear(error) if flight.fired else Transient(error)

    async def _fly(self, mail: Prepared, flight: Flight) -> Answer:
        if flight.late:
            return TooLate()
        server = self._server
        connection = await self._connection()
        try:
            answer = await connection.send(mail, flight.may_go)
        except RefusedError as refusal:
            lives = server is self._server and not isinstance(refusal.answer, TooLate)
            self._put_away(connection, usable=lives)
            raise
        except BaseException:
            connection.abort()
            raise
        self._put_away(connection, usable=server is self._server)
        return answer

    async def _connection(self) -> Connection:
        """Reuse the connection used last; make one if none is alive."""
        while self._idle:
            connection = self._idle.pop()
            if await _wakes(connection, self._options.connect_timeout):
                return connection
        if self._server is None:
            raise RuntimeError("the provider is not open")
        async with asyncio.timeout(self._options.connect_timeout):
            return await connect(self._server)

    def _put_away(self, connection: Connection, *, usable: bool) -> None:
        if usable:
            self._idle.append(connection)
        else:
            connection.abort()


async def _wakes(connection: Connection, patience: float) -> bool:
    try:
        alive = await connection.wake(patience)
    except BaseException:
        connection.abort()
        raise
    if not alive:
        connection.abort()
    return alive


def _server(options: SmtpOptions) -> Server:
    """Run in a thread: reads certificates, and asks for our own name."""
    password = options.password
    return Server(
        options.host,
        options.port or PORTS[options.tls],
        options.tls,
        ssl.create_default_context(cafile=options.ca_file),
        options.hello or socket.getfqdn(),
        options.username,
        password.get_secret_value() if password else None,
    )
