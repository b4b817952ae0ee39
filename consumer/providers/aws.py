"""AWS credentials from the usual chain (environment, profile, web identity, container, instance).

botocore finds and renews them (extra `ses`). Its calls block, so they run in a thread; one at a
time, however many mails wait for it.
"""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from consumer.model import Blocked, elapsed
from consumer.providers.sigv4 import Keys

if TYPE_CHECKING:
    from botocore.credentials import Credentials

FRESH: Final = 30.0  # seconds; botocore renews ten minutes ahead, so what it gave holds longer
PATIENCE: Final = 5.0  # seconds that a mail waits for the chain; then its breaker waits instead


class AwsCredentials:
    """The keys to sign with now. `given`: configured ones, which leave no chain to ask."""

    def __init__(self, given: Keys | None = None, profile: str | None = None) -> None:
        if given is None and find_spec("botocore") is None:
            raise ModuleNotFoundError(
                'a provider of type "ses" finds its credentials with botocore, which is not'
                " installed: pip install botocore, or set access_key_id and secret_access_key"
            )
        self._profile = profile
        self._keys: Keys | Blocked | None = given
        self._fresh_until = float("-inf") if given is None else float("inf")
        self._source: Credentials | None = None
        self._asking: asyncio.Task[None] | None = None

    async def keys(self) -> Keys | Blocked:
        """Return the keys, or why there are none: nothing of this account goes out then."""
        if elapsed() >= self._fresh_until:
            await self._renew()
        return self._keys or Blocked("ses: no answer from the credential chain")

    async def _renew(self) -> None:
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask())
        await asyncio.wait([self._asking], timeout=PATIENCE)

    async def _ask(self) -> None:
        self._keys = await asyncio.to_thread(self._look)
        if isinstance(self._keys, Keys):
            self._fresh_until = elapsed() + FRESH

    def _look(self) -> Keys | Blocked:
        """Run in a thread: files, the instance's metadata, or a call to AWS."""
        try:
            self._source = self._source or _chain(self._profile)
            return Blocked("ses: no credentials") if not self._source else _frozen(self._source)
        except Exception as problem:  # noqa: BLE001 - the chain runs foreign code of many kinds
            return Blocked(f"ses: no credentials ({type(problem).__name__})")


def _chain(profile: str | None) -> Credentials | None:
    from botocore.session import Session  # noqa: PLC0415 - an extra, and a second to import

    return Session(profile=profile).get_credentials()


def _frozen(source: Credentials) -> Keys:
    """Read all three at one moment: a renewal in between would mix old and new."""
    now = source.get_frozen_credentials()
    return Keys(now.access_key or "", now.secret_key or "", now.token)
