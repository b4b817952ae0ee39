"""One connection to an SMTP server: opened, woken, and used for one mail after another."""

from __future__ import annotations

import asyncio
import socket
import ssl
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Final, Literal, Protocol

from aiosmtplib import SMTP, SMTPResponse, SMTPResponseException

from consumer.model import Accepted, Answer, Blocked, Message, Prepared, Rejected, elapsed
from consumer.providers.deadline import pieces
from consumer.providers.smtp_replies import Place, acceptance, refusal
from consumer.providers.sockets import provider_socket

IDLE: Final = 30.0  # seconds that a connection is kept; servers hang up after a minute or more
OK: Final = 250
GO_AHEAD: Final = 354

Tls = Literal["none", "starttls", "implicit"]


class RefusedError(Exception):
    """The server's reply decides, and nothing of the mail was taken."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.answer = answer


class Going(Protocol):
    """Asked right before each piece of a mail; `last`: with it, the mail is complete."""

    def __call__(self, *, last: bool) -> None:
        """Raise `RefusedError` where it is too late."""


@dataclass(frozen=True, slots=True)
class Server:
    """Where to, and as whom. `hello`: the name we give ourselves."""

    host: str
    port: int
    tls: Tls
    context: ssl.SSLContext
    hello: str
    username: str | None = None
    password: str | None = field(default=None, repr=False)


class Connection:
    """Greeted, secured and logged in. `used_at`: on the clock `elapsed`."""

    def __init__(self, client: SMTP) -> None:
        self._client = client
        self.used_at = elapsed()

    async def wake(self, patience: float) -> bool:
        """Tell whether an idle connection is still there; what it was at is cleared."""
        if not self._client.is_connected or elapsed() - self.used_at > IDLE:
            return False
        try:
            return _is(await self._client.execute_command(b"RSET", timeout=patience), OK)
        except (OSError, SMTPResponseException):
            return False

    async def send(self, mail: Prepared, may_go: Going) -> Accepted:
        """Go through one mail.

        Raises `RefusedError`; any other exception before the last `may_go` means that nothing was
        sent.
        """
        payload = _payload(mail.body)
        await self._envelope(mail.message, len(payload))
        await self._say(Place.DATA, GO_AHEAD, b"DATA")
        reply = await self._write(payload, may_go)
        self.used_at = elapsed()
        if not _is(reply, OK):
            raise RefusedError(refusal(Place.END, reply.code, reply.message))
        return acceptance(reply.message, mail.message.message_id)

    def abort(self) -> None:
        """Leave at once; what was not yet sent is thrown away."""
        protocol = self._client.protocol
        if protocol is not None and isinstance(protocol.transport, asyncio.WriteTransport):
            protocol.transport.abort()
        self._client.close()

    async def _envelope(self, message: Message, size: int) -> None:
        self._fits(size)
        options = [b"SMTPUTF8"] if not _is_ascii(message) else []
        if options and not self._client.supports_extension("smtputf8"):
            raise RefusedError(Rejected("smtp: the server takes no address outside ASCII"))
        sender, to = message.sender.email.encode(), message.to.email.encode()
        await self._say(Place.SENDER, OK, b"MAIL", b"FROM:<%b>" % sender, *options)
        await self._say(Place.RECIPIENT, OK, b"RCPT", b"TO:<%b>" % to)

    def _fits(self, size: int) -> None:
        """Compare with what the server has announced (RFC 1870); 0 or nothing: it has no limit."""
        said = self._client.esmtp_extensions.get("size", "")
        limit = int(said) if said.isdigit() else 0
        if 0 < limit < size:
            raise RefusedError(Rejected(f"smtp: a mail of {size} bytes, the server takes {limit}"))

    async def _say(self, place: Place, hoped: int, *words: bytes) -> None:
        reply = await self._client.execute_command(*words, timeout=None)
        if not _is(reply, hoped):
            raise RefusedError(refusal(place, reply.code, reply.message))

    async def _write(self, payload: bytes, may_go: Going) -> SMTPResponse:
        protocol = self._client.protocol
        if protocol is None:
            raise ConnectionResetError
        *ahead, last = pieces(payload)
        for piece in ahead:
            may_go(last=False)
            protocol.write(bytes(piece))
            await protocol._drain_helper()  # noqa: SLF001 - the library never waits by itself
        may_go(last=True)
        protocol.write(bytes(last))  # no await since the check
        return await protocol.read_response()


def _is(reply: SMTPResponse, hoped: int) -> bool:
    """A client goes by the first digit (RFC 5321, section 4.2.1): 251 is as good as 250."""
    return reply.code // 100 == hoped // 100


async def connect(server: Server) -> Connection:
    """Raise `RefusedError` on a reply that says no, and anything on a connection that fails."""
    sock = await _socket(server.host, server.port)
    client = SMTP(
        hostname=server.host,
        sock=sock,
        local_hostname=server.hello,
        use_tls=server.tls == "implicit",
        start_tls=False,
        tls_context=server.context,
        timeout=None,
    )
    connection = Connection(client)
    try:
        await _introduce(client, server)
    except BaseException:
        connection.abort()
        sock.close()
        raise
    return connection


async def _introduce(client: SMTP, server: Server) -> None:
    place = Place.GREETING
    try:
        await client.connect()
        place = Place.HELLO
        await client.ehlo()
        if server.tls == "starttls":
            place = Place.TLS
            await _secure(client)
        if server.username is not None:
            place = Place.LOGIN
            await _log_in(client, server)
    except SMTPResponseException as reply:
        raise RefusedError(refusal(place, reply.code, reply.message)) from None


async def _secure(client: SMTP) -> None:
    """Never without: whoever strips the offer from a plain connection would read the mail."""
    if not client.supports_extension("starttls"):
        raise RefusedError(Blocked("smtp: the server offers no STARTTLS"))
    await client.starttls()
    await client.ehlo()


async def _log_in(client: SMTP, server: Server) -> None:
    if not client.supported_auth_methods:
        raise RefusedError(Blocked("smtp: the server offers no login that we know"))
    await client.login(server.username or "", server.password or "")


async def _socket(host: str, port: int) -> socket.socket:
    """Try the host's addresses in turn."""
    loop, problem = asyncio.get_running_loop(), OSError("no address")
    for family, kind, protocol, _, address in await loop.getaddrinfo(
        host, port, type=socket.SOCK_STREAM
    ):
        made = provider_socket((family, kind, protocol))
        made.setblocking(False)  # noqa: FBT003 - the signature of a socket
        try:
            await loop.sock_connect(made, address)
        except OSError as failed:
            made.close()
            problem = failed
        except BaseException:
            made.close()
            raise
        else:
            return made
    raise problem


def _payload(body: bytes) -> bytes:
    """Add the date, which is the sending's and not the mail's, and the dots of RFC 5321, 4.5.2."""
    date = format_datetime(datetime.now(UTC))
    stuffed = body.replace(b"\r\n.", b"\r\n..")
    return b"Date: %b\r\n%b.\r\n" % (date.encode(), stuffed)


def _is_ascii(message: Message) -> bool:
    addresses = [message.sender, message.to, message.reply_to or message.to]
    return all(address.email.isascii() for address in addresses)
