"""The hot statements: their connections, and the batches that form before them.

One connection for claims, one for outcomes, one for looks: more would make more and smaller
statements. Renewals have their own, so that no lease runs out in a queue, and so has what webhooks
tell, which may come in floods.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from consumer.guard import attempts, claims, hearing, outcomes
from consumer.guard.attempts import Next
from consumer.guard.batches import Batches, OnBatch
from consumer.guard.lanes import PINNED, TIMEOUTS, Address, Lane, Weather
from consumer.guard.outcomes import Ending
from consumer.guard.privacy import Privacy
from consumer.guard.proofs import OnDouble
from consumer.guard.rows import Place, Standing, find
from consumer.guard.terms import Terms
from consumer.model import Claim, ClaimResult, Fenced, Lease, Notice, RecordResult


class Queues:
    def __init__(
        self,
        address: Address,
        weather: Weather,
        terms: Callable[[], Terms],
        on_batch: OnBatch,
        on_double: OnDouble,
        privacy: Privacy,
    ) -> None:
        self._terms = terms
        self._on_double = on_double
        self._privacy = privacy
        settings = {**TIMEOUTS, **PINNED}
        self._looking, self._claiming, self._ending, self._hearing, self.renewals = (
            Lane(address, weather, settings, name)
            for name in ("looks", "claims", "outcomes", "webhooks", "renewals")
        )
        self.looks: Batches[Place, Standing] = Batches("look", self._look, on_batch)
        self.claims: Batches[Claim, ClaimResult] = Batches("claim", self._claim, on_batch)
        self.nexts: Batches[Next, Lease | Fenced] = Batches("next", self._next, on_batch)
        self.endings: Batches[Ending, RecordResult] = Batches("outcome", self._end, on_batch)
        self.notices: Batches[Notice, bool] = Batches("webhook", self._hear, on_batch)

    async def close(self) -> None:
        lanes = (self._looking, self._claiming, self._ending, self._hearing, self.renewals)
        for lane in lanes:
            await lane.close()
        for batches in (self.looks, self.claims, self.nexts, self.endings, self.notices):
            await batches.drain()

    # `terms` are taken before the first try: a repeat never lengthens what we believe of a lease.

    async def _look(self, places: Sequence[Place]) -> list[Standing]:
        return await self._looking.run(lambda c: find(c, places))

    async def _claim(self, items: Sequence[Claim]) -> list[ClaimResult]:
        terms = self._terms()
        return await self._claiming.run(lambda c: claims.claim(c, items, terms))

    async def _next(self, items: Sequence[Next]) -> list[Lease | Fenced]:
        terms = self._terms()
        return await self._claiming.run(lambda c: attempts.next_attempt(c, items, terms))

    async def _end(self, items: Sequence[Ending]) -> list[RecordResult]:
        return await self._ending.run(lambda c: self._record(c, items))

    async def _record(self, connection: Any, items: Sequence[Ending]) -> list[RecordResult]:
        return await outcomes.record(connection, items, self._on_double, self._privacy)

    async def _hear(self, items: Sequence[Notice]) -> list[bool]:
        return await self._hearing.run(lambda c: hearing.hear(c, items, self._on_double))
