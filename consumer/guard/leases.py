"""Leases of live flights, renewed together.

Renewed is exactly what this process is flying, by (key, epoch, token); never "all rows of this
owner": a flight that was abandoned would be renewed for ever, and everyone would wait for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from consumer.guard.lanes import Lane, Weather
from consumer.guard.terms import Terms
from consumer.model import Lease, elapsed

RENEWALS = 6  # in the life of a lease: two may fail, and a whole attempt still fits in

RENEW = """
    UPDATE sent_message m
       SET lease_until = now() + $1::interval,
           attempt_deadline = CASE WHEN m.status = 'sending' THEN now() + $1::interval
                                   ELSE m.attempt_deadline END
      FROM unnest($2::text[], $3::int[], $4::text[]) AS u(k, e, tk)
     WHERE m.idempotency_key = u.k AND m.epoch = u.e AND m.token = u.tk
       AND m.status IN ('sending', 'waiting') AND m.lease_until IS NOT NULL
    RETURNING m.token, m.epoch
"""


def renew_interval(lease: float) -> float:
    """Seconds between renewals of one lease. Settings demand lease > longest attempt + 2 of it."""
    return lease / RENEWALS


class Leases:
    """What this process flies. `seconds`: the life of a lease."""

    def __init__(self, lane: Lane, weather: Weather, seconds: float) -> None:
        self._lane = lane
        self._weather = weather
        self._seconds = seconds
        self._held: dict[int, Lease] = {}

    def __len__(self) -> int:
        return len(self._held)

    def hold(self, lease: Lease) -> None:
        self._held[id(lease)] = lease

    def let_go(self, lease: Lease) -> None:
        self._held.pop(id(lease), None)

    async def renew_forever(self) -> None:
        """Renew what is old enough, one statement a tick, until the guard is closed."""
        while not self._weather.closed.is_set():
            await self.renew()
            try:
                async with asyncio.timeout(renew_interval(self._seconds) / 2):
                    await self._weather.closed.wait()
            except TimeoutError:
                continue

    async def renew(self) -> None:
        """Renew the leases that are an interval old. While Postgres is away they run out.

        After a failure it goes on asking, if only about none: flights are short, and the lane
        would pass for down until one of them is old.
        """
        now = elapsed()
        young = now + self._seconds - renew_interval(self._seconds)
        old = [lease for lease in self._held.values() if lease.ends_at <= young]
        if old or self._lane.failing:
            terms = Terms("", self._seconds, now)
            await self._lane.run_once(lambda c: renew(c, old, terms))


async def renew(connection: Any, leases: Sequence[Lease], terms: Terms) -> None:
    """Renew exactly these flights, in one statement; one that is not ours any more ends now."""
    asked = [(lease, lease.epoch) for lease in leases]
    rows = sorted((lease.key, epoch, lease.token) for lease, epoch in asked)
    columns = zip(*rows, strict=True) if rows else ([], [], [])
    renewed = await connection.fetch(RENEW, terms.interval, *columns)
    ours = {(row["token"], row["epoch"]) for row in renewed}
    for lease, epoch in asked:
        if (lease.token, epoch) in ours:
            lease.ends_at = max(lease.ends_at, terms.ends_at)
        elif lease.epoch == epoch:  # else its next attempt began meanwhile, and renewed it
            lease.ends_at = 0.0
