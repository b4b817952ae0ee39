"""Trust and our certificate change in place: the next handshake uses what was loaded last."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trustme

from consumer.intake.cluster import Tls


class Server:
    """Takes clients of one authority; remembers the serial numbers of their certificates."""

    def __init__(self, clients: trustme.CA, own: trustme.CA) -> None:
        self.seen: list[str] = []
        self.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.context.verify_mode = ssl.CERT_REQUIRED
        clients.configure_trust(self.context)
        own.issue_cert("localhost").configure_cert(self.context)

    async def met(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.seen.append(writer.get_extra_info("peercert")["serialNumber"])
        writer.close()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[int]:
        server = await asyncio.start_server(self.met, "127.0.0.1", 0, ssl=self.context)
        async with server:
            yield server.sockets[0].getsockname()[1]


def write_client(folder: Path, authority: trustme.CA) -> None:
    cert = authority.issue_cert("sendonce")
    cert.private_key_pem.write_to_path(folder / "tls.key")
    (folder / "tls.crt").write_bytes(b"".join(part.bytes() for part in cert.cert_chain_pems))


async def greet(context: ssl.SSLContext, port: int) -> None:
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", port, ssl=context, server_hostname="localhost"
    )
    await reader.read()
    writer.close()
    await writer.wait_closed()


async def test_the_next_handshake_uses_the_new_certificate_and_authority(tmp_path: Path) -> None:
    clients, first, second = trustme.CA(), trustme.CA(), trustme.CA()
    authorities = tmp_path / "ca.crt"
    first.cert_pem.write_to_path(authorities)
    write_client(tmp_path, clients)
    tls = Tls(*(str(tmp_path / name) for name in ("ca.crt", "tls.crt", "tls.key")))
    context = tls.context()
    before, after = Server(clients, first), Server(clients, second)
    async with before.listening() as port:
        await greet(context, port)
        write_client(tmp_path, clients)
        second.cert_pem.write_to_path(authorities)
        tls.renew()
        await greet(context, port)
    async with after.listening() as port:
        await greet(context, port)
    old, new, newer = *before.seen, *after.seen
    assert old != new == newer
    assert tls.context() is context, "clients keep the one that they were made with"


async def test_a_key_that_does_not_fit_leaves_the_old_pair_in_use(tmp_path: Path) -> None:
    """Certificate and key are two files: between the two, one of them is older."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.crt")
    write_client(tmp_path, authority)
    tls = Tls(*(str(tmp_path / name) for name in ("ca.crt", "tls.crt", "tls.key")))
    context = tls.context()
    authority.issue_cert("sendonce").private_key_pem.write_to_path(tmp_path / "tls.key")
    with pytest.raises(OSError, match=r"mismatch|MISMATCH"):
        tls.renew()
    server = Server(authority, authority)
    async with server.listening() as port:
        await greet(context, port)
    assert len(server.seen) == 1
