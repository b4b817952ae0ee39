"""Secrets change while the service runs: whatever uses one goes on with the new one.

    files ─▶ settings that are followed ─┬─▶ here: providers, webhooks, Kafka's TLS
                                         └─▶ asked for when needed: Postgres and Kafka at each
                                             connect, the admin port at each request

The files are read again every half minute; every two seconds while somebody refuses us or is away;
and at once when a provider says that nothing may go out.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog

from consumer import providers, webhooks
from consumer.providers import AnyOptions, SesOptions
from consumer.settings.hooks import source

if TYPE_CHECKING:
    from consumer.intake.cluster import Tls
    from consumer.routes import Route, Routes
    from consumer.settings import Followed
    from consumer.webhooks import Hook

log = structlog.get_logger("rotation")

EVERY: Final = 30.0  # seconds between two looks when all is well
SOON: Final = 2.0  # seconds while something is refused: a new secret may be why


class Rotation:
    """`hooks` is changed in place, `tls` and the routes' providers are told."""

    def __init__(
        self, followed: Followed, hooks: dict[str, Hook], tls: Tls, *, soon: float = SOON
    ) -> None:
        self._followed = followed
        self._hooks = hooks
        self._tls = tls
        self._soon = soon
        self._used: dict[str, AnyOptions] = dict(followed.now.providers)
        self._loaded = _digest(tls.files)
        self._asked = asyncio.Event()
        self._blocked: set[str] = set()

    def ask(self, provider: str) -> None:
        """Have the files read at once: this provider lets nothing out."""
        self._blocked.add(provider)
        self._asked.set()

    async def run(self, routes: Routes, refused: Callable[[], bool]) -> None:
        """Look for ever. `refused`: whether something is refused, or away, at this moment."""
        while True:
            await self.look(routes)
            await self._wait(refused)

    async def _wait(self, refused: Callable[[], bool]) -> None:
        for _ in range(round(EVERY / SOON)):
            with suppress(TimeoutError):
                async with asyncio.timeout(self._soon):
                    await self._asked.wait()
            if self._asked.is_set() or refused():
                return

    async def look(self, routes: Routes) -> None:
        """Read the files again, and have what changed used."""
        self._asked.clear()
        blocked, self._blocked = self._blocked, set()
        for name, options in self._followed.look().providers.items():
            route = routes.by_name[name]
            if options != self._used[name]:
                await self._take_up(name, options, route)
            elif name in blocked and _asks_aws(options):
                await providers.renew(route.provider, options)  # its chain may have new ones by now
        self._load_tls()

    async def _take_up(self, name: str, options: AnyOptions, route: Route) -> None:
        try:
            await self._use(name, options, route)
        except OSError as error:  # the authorities of its server cannot be read; later again
            why = f"{error.strerror or type(error).__name__}; what was good before stays"
            log.warning("secret not taken up", setting=f"providers.{name}", why=why)

    async def _use(self, name: str, options: AnyOptions, route: Route) -> None:
        if _but_webhooks(options) != _but_webhooks(self._used[name]):
            await self._sign_with(name, options, route)
        if name in self._hooks and options.webhook_secret != self._used[name].webhook_secret:
            self._hooks |= webhooks.build([source(name, options)])
        self._used[name] = options

    async def _sign_with(self, name: str, options: AnyOptions, route: Route) -> None:
        before = route.provider.account
        await providers.renew(route.provider, options)
        route.permits.renew()
        if route.provider.account != before:
            log.warning(
                "another account",
                provider=name,
                why="mails in doubt are not asked about with other credentials, unless"
                f" providers.{name}.account names the account that both are of",
            )

    def _load_tls(self) -> None:
        found = _digest(self._tls.files)
        if found == self._loaded:
            return
        self._loaded = found
        try:
            self._tls.renew()
        except OSError as error:
            why = f"{error.strerror or type(error).__name__}; what was loaded before stays"
            log.warning("secret not taken up", setting="kafka.ssl_*", why=why)
        else:
            log.info("secret changed", setting="kafka.ssl_*")


def _asks_aws(options: AnyOptions) -> bool:
    return isinstance(options, SesOptions) and options.access_key_id is None


def _but_webhooks(options: AnyOptions) -> AnyOptions:
    return options.model_copy(update={"webhook_secret": ()})


def _digest(files: Iterable[str]) -> bytes:
    """Tell what is in the files, without keeping it; unreadable ones count as empty."""
    digest = hashlib.sha256()
    for file in files:
        with suppress(OSError):
            digest.update(Path(file).read_bytes())
        digest.update(b"\0")
    return digest.digest()
