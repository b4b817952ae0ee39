"""All connections of one worker to its guard, opened when first used, and what they share."""

from __future__ import annotations

from functools import partial

import structlog

from consumer.guard.batches import OnBatch
from consumer.guard.lanes import TIMEOUTS, Address, Lane, Lanes, Weather
from consumer.guard.leases import Leases
from consumer.guard.privacy import Privacy
from consumer.guard.proofs import OnDouble
from consumer.guard.queues import Queues
from consumer.guard.terms import Terms
from consumer.model import MarkSent, Row

SLOW_TIMEOUTS = {"lock_timeout": "3s", "statement_timeout": "60s"}  # they read much
SLOW_TIMEOUT = 90.0  # seconds, the client's own


def ignore_batch(kind: str, rows: int, seconds: float) -> None:
    pass


def log_double(row: Row, proof: MarkSent) -> None:
    structlog.get_logger("guard").error(
        "accepted twice", key=row.key, first=row.provider, second=proof.provider
    )


class Connections:
    """`hot`: the straight line and webhooks; `rest`: what is not hot; `slow`: what reads much."""

    def __init__(
        self,
        address: Address,
        owner: str,
        lease: float,
        on_batch: OnBatch,
        on_double: OnDouble,
        pool_size: int,
        privacy: Privacy,
    ) -> None:
        self.privacy = privacy
        self.terms = partial(Terms.from_now, owner, lease)
        self.weather = Weather()
        self.hot = Queues(address, self.weather, self.terms, on_batch, on_double, privacy)
        self.leases = Leases(self.hot.renewals, self.weather, lease)
        self.rest = Lanes(
            [Lane(address, self.weather, TIMEOUTS, f"rest {n}") for n in range(pool_size)]
        )
        self.slow = Lane(address, self.weather, SLOW_TIMEOUTS, "slow", SLOW_TIMEOUT)

    async def close(self) -> None:
        self.weather.closed.set()
        await self.slow.close()
        await self.rest.close()
        await self.hot.close()
