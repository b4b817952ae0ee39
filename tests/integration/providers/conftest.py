from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import pytest
import trustme
from aiohttp import connector
from pydantic import TypeAdapter

from consumer.model import Answer, Enclosed, Message, Prepared
from consumer.providers import AnyOptions, Provider, build
from tests.doubles.mails import MAIL, lease
from tests.integration.providers.kinds import KINDS, AnyDouble, Kind

OPTIONS: TypeAdapter[AnyOptions] = TypeAdapter(AnyOptions)


@dataclass(frozen=True, slots=True)
class Stage:
    """An adapter and its double, ready to send."""

    kind: Kind
    double: AnyDouble
    provider: Provider

    async def send(
        self, message: Message = MAIL, seconds: float = 60, enclosed: Sequence[Enclosed] = ()
    ) -> Answer:
        ready = self.provider.prepare(message, enclosed)
        assert isinstance(ready, Prepared)
        return await self.provider.attempt(ready, lease(seconds))

    def impatient(self) -> AbstractAsyncContextManager[Stage]:
        """Return the same stage with a provider that waits a quarter of a second."""
        return on_stage(self.kind, self.double, timeout=0.25, connect_timeout=0.2)


@asynccontextmanager
async def on_stage(kind: Kind, double: AnyDouble, **options: object) -> AsyncIterator[Stage]:
    provider = build(kind.name, OPTIONS.validate_python({**double.options, **options}))
    await provider.open()
    try:
        yield Stage(kind, double, provider)
    finally:
        await provider.close()


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    kind: Kind = request.param
    async with kind.start() as double, on_stage(kind, double) as ready:
        yield ready


@pytest.fixture(params=[kind for kind in KINDS if kind.http], ids=lambda kind: kind.name)
async def http(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    """Yield a stage that speaks HTTP: some laws are about HTTP alone."""
    kind: Kind = request.param
    async with kind.start() as double, on_stage(kind, double) as ready:
        yield ready


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def server_tls(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    return context


@pytest.fixture
def trusting(authority: trustme.CA, monkeypatch: pytest.MonkeyPatch) -> None:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    monkeypatch.setattr(connector, "_SSL_CONTEXT_VERIFIED", context)
