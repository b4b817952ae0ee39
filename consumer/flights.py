"""One flight per key in this process, and the token that each flight claims with."""

from __future__ import annotations

import asyncio
import itertools


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

    def only(self, key: str) -> _Turn:
        """Hold the key for the length of an `async with`; wait while another record holds it."""
        return _Turn(self, key)

    async def take(self, key: str) -> None:
        while (waiting := self._waiting.get(key)) is not None:
            turn = asyncio.get_running_loop().create_future()
            waiting.append(turn)
            await turn
        self._waiting[key] = []

    def give(self, key: str) -> None:
        for turn in self._waiting.pop(key):
            if not turn.done():
                turn.set_result(None)


class _Turn:
    """`async with flights.only(key):`, written out: a generator costs three times as much."""

    __slots__ = ("_flights", "_key")

    def __init__(self, flights: Flights, key: str) -> None:
        self._flights = flights
        self._key = key

    async def __aenter__(self) -> None:
        await self._flights.take(self._key)

    async def __aexit__(self, *_: object) -> None:
        self._flights.give(self._key)
