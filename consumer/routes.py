"""Which provider takes a mail: the first of its type's whose breaker lets it through."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from consumer.model import Priority

if TYPE_CHECKING:
    from collections.abc import Mapping

    from consumer.model import MailType
    from consumer.providers import Provider
    from consumer.providers.permits import Permit, Permits

# How long a mail waits for one provider before it looks whether another has become free.
CHOOSE_AGAIN = 1.0


@dataclass(frozen=True, slots=True)
class Route:
    provider: Provider
    permits: Permits


@dataclass(frozen=True, slots=True)
class Routes:
    by_name: Mapping[str, Route]

    async def permit(self, mail_type: MailType, first: int = 0) -> tuple[Route, Permit]:
        """Wait until some provider of this type may be asked; `first`: the one to prefer."""
        names = mail_type.providers
        order = [self.by_name[names[(first + n) % len(names)]] for n in range(len(names))]
        high = mail_type.priority is Priority.HIGH
        while True:
            route = _first_open(order, mail_type.sender)
            permit = route.permits.try_take(mail_type.sender, high=high)
            if permit is not None:
                return route, permit
            try:
                async with asyncio.timeout(CHOOSE_AGAIN if len(order) > 1 else None):
                    return route, await route.permits.take(mail_type.sender, high=high)
            except TimeoutError:
                continue


def _first_open(order: list[Route], sender: str) -> Route:
    return next((route for route in order if route.permits.open_for(sender)), order[0])
