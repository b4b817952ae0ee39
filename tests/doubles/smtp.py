"""An SMTP submission server: strict about what it is given, counting what it took by Message-ID.

Faults are those of `script`, in SMTP's words. `status` answers `status` and `body` in place of
accepting, where `headers["at"]` says: mail, rcpt or data; default: after the final dot. `reset`
breaks the connection at MAIL. What happens after accepting happens after the final dot. What is
said before any mail stands in `instead`.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Coroutine
from typing import Any, Self
from uuid import uuid4

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from tests.doubles.ledger import Ledger
from tests.doubles.script import Fault, Script
from tests.doubles.smtp_mails import brought, found_wrong, parsed

MESSAGE_ID = re.compile(r"<([0-9A-Za-z_-]+)@[\w.-]+>")


class SmtpDouble:
    """`async with SmtpDouble() as double: ... double.options`.

    `login`: (user, password) that it asks for. `context`: speaks TLS with it, by STARTTLS or, if
    `implicit`, from the first byte. `smtputf8`: whether it is offered. `size`: bytes, of a mail.
    """

    def __init__(
        self,
        *,
        login: tuple[str, str] | None = None,
        context: ssl.SSLContext | None = None,
        implicit: bool = False,
        smtputf8: bool = True,
        size: int = 33_554_432,
    ) -> None:
        self.ledger = Ledger()
        self.script = Script()
        self.arrived = asyncio.Event()  # set whenever a mail was read
        self.took = asyncio.Event()  # set whenever a mail was taken
        self.mails: list[bytes] = []  # the last ones as they came over the wire
        self.envelopes: list[tuple[str, str]] = []
        self.instead: dict[str, str] = {}  # greeting, ehlo, starttls or auth -> the whole reply
        self.connections = 0
        self.login, self.context, self.implicit, self.smtputf8 = login, context, implicit, smtputf8
        self.size = size
        self.transports: set[asyncio.BaseTransport] = set()
        self._server: asyncio.Server | None = None
        self.port = 0

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        tls = self.context if self.implicit else None
        self._server = await loop.create_server(self._protocol, "127.0.0.1", 0, ssl=tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        self.close_idle()
        await asyncio.sleep(0)  # their ends are called back

    @property
    def options(self) -> dict[str, object]:
        """What goes into [providers.X] to be sent here."""
        tls = "none" if self.context is None else "implicit" if self.implicit else "starttls"
        options: dict[str, object] = {
            "type": "smtp", "host": "127.0.0.1", "port": self.port, "tls": tls, "hello": "client",
        }  # fmt: skip
        if self.login is not None:
            options["username"], options["password"] = self.login
        return options

    def close_idle(self) -> None:
        """Hang up on everybody."""
        for transport in tuple(self.transports):
            transport.close()

    def _protocol(self) -> Dialogue:
        return Dialogue(self)

    def authenticate(
        self, server: Any, session: Any, envelope: Any, mechanism: str, data: Any
    ) -> AuthResult:
        if not isinstance(data, LoginPassword) or self.login is None:
            return AuthResult(success=False, handled=False)
        given = (data.login.decode(), data.password.decode())
        return AuthResult(success=given == self.login, handled=False)


class Dialogue(SMTP):
    """One connection."""

    def __init__(self, double: SmtpDouble) -> None:
        self._double = double
        self.fault = Fault()
        super().__init__(
            Hooks(double, self),
            data_size_limit=double.size,
            hostname="double",
            ident="double",
            enable_SMTPUTF8=double.smtputf8,
            tls_context=None if double.implicit else double.context,
            require_starttls=double.context is not None and not double.implicit,
            authenticator=double.authenticate,
            auth_require_tls=False,
        )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._double.connections += 1
        self._double.transports.add(transport)
        super().connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        self._double.transports.discard(self.transport)
        super().connection_lost(error)

    async def push(self, status: Any) -> None:
        if str(status).startswith("220 double"):
            status = self._double.instead.get("greeting", status)
        await super().push(status)

    async def smtp_EHLO(self, arg: str) -> None:  # noqa: N802 - a verb of the protocol
        await self._unless_said("ehlo", super().smtp_EHLO(arg))

    async def smtp_STARTTLS(self, arg: str) -> None:  # noqa: N802 - a verb of the protocol
        await self._unless_said("starttls", super().smtp_STARTTLS(arg))

    async def smtp_AUTH(self, arg: str) -> None:  # noqa: N802 - a verb of the protocol
        await self._unless_said("auth", super().smtp_AUTH(arg))

    async def smtp_DATA(self, arg: str) -> None:  # noqa: N802 - a verb of the protocol
        if self.fault.word == "status" and self.fault.headers.get("at") == "data":
            await self.push(words(self.fault))
        else:
            await super().smtp_DATA(arg)

    async def _unless_said(self, place: str, usual: Coroutine[Any, Any, None]) -> None:
        if place in self._double.instead:
            usual.close()
            await self.push(self._double.instead[place])
        else:
            await usual


def wire(server: SMTP) -> asyncio.Transport:
    assert isinstance(server.transport, asyncio.Transport)
    return server.transport


def words(fault: Fault) -> str:
    return f"{fault.status} {fault.body or 'as the script says'}"


class Hooks:
    """What aiosmtpd asks at each step of a mail."""

    def __init__(self, double: SmtpDouble, dialogue: Dialogue) -> None:
        self._double, self._dialogue = double, dialogue

    async def handle_MAIL(  # noqa: N802 - aiosmtpd's name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        self._double.ledger.requests += 1
        fault = self._dialogue.fault = self._double.script.draw()
        if fault.word == "reset":
            wire(server).abort()
        if fault.word == "status" and fault.headers.get("at") == "mail":
            return words(fault)
        if self._double.login is not None and not session.authenticated:
            return "530 5.7.0 Authentication required"
        envelope.mail_from = address
        return "250 2.1.0 Ok"

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's name
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        fault = self._double.script.of(address, self._dialogue.fault)
        if fault.word == "status" and fault.headers.get("at") == "rcpt":
            return words(fault)
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 Ok"

    async def handle_DATA(  # noqa: N802 - aiosmtpd's name
        self, server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        self._double.arrived.set()
        fault = self._double.script.of(envelope.rcpt_tos[0], self._dialogue.fault)
        if fault.word == "status":
            return words(fault)
        content = envelope.original_content or b""
        wrong = found_wrong(content, envelope)
        if wrong:
            return f"554 5.6.0 {wrong}"
        if fault.word == "delay":
            await asyncio.sleep(fault.seconds)
        return await self._deliver(server, self._take(content, envelope), fault)

    def _take(self, content: bytes, envelope: Envelope) -> str:
        queue_id = uuid4().hex[:12].upper()
        mail = parsed(content)
        found = MESSAGE_ID.fullmatch(str(mail["Message-ID"]))
        self._double.ledger.accept(found[1] if found else "", queue_id, brought(mail))
        self._double.mails.append(content)
        self._double.envelopes.append((envelope.mail_from or "", envelope.rcpt_tos[0]))
        self._double.took.set()
        return f"250 2.0.0 Ok: queued as {queue_id}"

    async def _deliver(self, server: SMTP, reply: str, fault: Fault) -> str:
        match fault.word:
            case "drop":
                wire(server).abort()
            case "timeout":
                await asyncio.Event().wait()
            case "garbage":
                return "\x15\x03\x01 this is not SMTP"
            case "blank":
                return ""
            case "cut":
                wire(server).write(reply[:5].encode())
                wire(server).close()
            case "slow":
                for place in range(len(reply) - 1):
                    wire(server).write(reply[place : place + 1].encode())
                    await asyncio.sleep(fault.seconds)
                return reply[-1]
            case _:
                pass
        return reply
