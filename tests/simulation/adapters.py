"""A worker's side of a provider: connect, compare the deadline, first byte, wait, read."""

from __future__ import annotations

import asyncio
import hashlib
import math

from consumer.model import (
    Answer,
    Lease,
    Message,
    Prepared,
    Rejected,
    TooLate,
    Transient,
    Unclear,
    elapsed,
)
from consumer.providers.base import answer_cancellation
from consumer.providers.lookups import Absent, Found, Lookup, Sighting, Unasked
from tests.simulation.loop import PROCESS
from tests.simulation.network import Network
from tests.simulation.providers import TIMEOUT, Company


class SimProvider:
    """The adapter in one worker. The rules of an attempt are those of `transport.HttpProvider`."""

    timeout = TIMEOUT
    concurrency = 8

    def __init__(self, company: Company, network: Network, account: str) -> None:
        self.name, self.account, self.rate = company.name, account, None
        self.window = company.kind.window
        self._company, self._network = company, network

    @property
    def lookup(self) -> Lookup | None:
        asked = self._company.kind.visible_after is not None
        return SimLookup(self._company, self._network, self.account) if asked else None

    def prepare(self, message: Message) -> Prepared | Rejected:
        body = message.text.encode()
        return Prepared(message, body, hashlib.sha256(body).digest())

    async def attempt(self, prepared: Prepared, lease: Lease, until: float = math.inf) -> Answer:
        network, began, fired = self._network, elapsed(), False
        try:
            await asyncio.sleep(network.travel())
            if network.random.random() < self._company.moods.refuses_connections:
                return Transient("connection refused")
            if elapsed() > min(lease.ends_at, until) - self.timeout:
                return TooLate()
            if PROCESS.get().dead:  # killed in this very step
                return TooLate()
            answer, fired = self._company.request(prepared, self.account), True
            # No await between the comparison and the first byte: the request is under way.
            async with asyncio.timeout(max(0.0, began + self.timeout - elapsed())):
                return await answer
        except TimeoutError:
            return Unclear("timeout")
        except asyncio.CancelledError:
            answer_cancellation()
            return Unclear("called back") if fired else TooLate(called_back=True)

    async def open(self) -> None: ...

    async def close(self) -> None: ...


class SimLookup:
    def __init__(self, company: Company, network: Network, account: str) -> None:
        assert company.kind.visible_after is not None
        self.visible_after = company.kind.visible_after
        self.absence_proves = company.kind.absence_proves
        self._company, self._network, self._account = company, network, account

    async def look_up(self, message: Message) -> Sighting:
        network, key = self._network, message.key
        seen = network.ask(
            PROCESS.get().name, "look up", lambda: self._company.look_up(key, self._account), key
        )
        try:
            async with asyncio.timeout(TIMEOUT):
                sighting = await seen
        except TimeoutError:
            return Unasked("timeout")
        return sighting if isinstance(sighting, Found | Absent | Unasked) else Unasked("reset")
