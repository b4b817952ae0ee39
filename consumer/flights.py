"""One flight per key in this process, and the token that each flight claims with."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Flights:
    """Records of one key go one after another, before anybody asks for a permit.

    Fifty repeats of a hot key would otherwise hold fifty permits while they wait for one flight,
    which may itself need a permit to go on.
    """

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self._serial = itertools.count(1)
        self._waiting: dict[str, list[asyncio.Future[None]]] = {}

    def token(self) -> str:
        """Return a token that no other flight of any process has: `owner` is random per start."""
        return f"{self._owner}-{next(self._serial)}"

    @asynccontextmanager
    async def only(self, key: str) -> AsyncIterator[None]:
        """Hold the key for the length of the block; wait while another record holds it."""
        while (waiting := self._waiting.get(key)) is not None:
            turn = asyncio.get_running_loop().create_future()
            waiting.append(turn)
            await turn
        self._waiting[key] = []
        try:
            yield
        finally:
            for turn in self._waiting.pop(key):
                if not turn.done():
                    turn.set_result(None)
