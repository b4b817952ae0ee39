"""Which provider takes a mail: the first of its type's whose breaker lets it through."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from consumer.evidence import Means
from consumer.model import Priority

if TYPE_CHECKING:
    from collections.abc import Mapping

    from consumer.model import MailType
    from consumer.providers import Provider
    from consumer.providers.permits import Permit, Permits

# How long a mail waits, all providers of its type being shut, before it looks again.
CHOOSE_AGAIN = 0.2


@dataclass(frozen=True, slots=True)
class Route:
    provider: Provider
    permits: Permits
    pushes: bool = False  # its webhook is listened to

    @property
    def means(self) -> Means:
        """What this provider can tell of a mail whose answer was lost."""
        asked = self.provider.lookup
        return Means(
            window=self.provider.window,
            visible_after=None if asked is None else asked.visible_after,
            absence_proves=asked is not None and asked.absence_proves,
            pushes=self.pushes,
        )

    async def leave(self, sender: str, *, high: bool) -> Permit:
        """Take a permit: at once where there is one, which is the rule."""
        permit = self.permits.try_take(sender, high=high)
        return permit or await self.permits.take(sender, high=high)


@dataclass(frozen=True, slots=True)
class Routes:
    by_name: Mapping[str, Route]

    async def permit(self, mail_type: MailType, first: int = 0) -> tuple[Route, Permit]:
        """Wait until some provider of this type may be asked; `first`: the one to prefer."""
        order = self._order(mail_type, first)
        high = mail_type.priority is Priority.HIGH
        if len(order) == 1:
            return order[0], await order[0].leave(mail_type.sender, high=high)
        while True:
            route = _first_open(order, mail_type.sender)
            permit = await route.permits.take_unless_shut(mail_type.sender, high=high)
            if permit is not None:
                return route, permit
            await asyncio.sleep(CHOOSE_AGAIN)  # every one of them is shut

    async def permit_unless_shut(self, mail_type: MailType) -> tuple[Route, Permit] | None:
        """Like `permit`, but None where every one of them is shut: for who can come again."""
        route = _first_open(self._order(mail_type), mail_type.sender)
        high = mail_type.priority is Priority.HIGH
        permit = await route.permits.take_unless_shut(mail_type.sender, high=high)
        return None if permit is None else (route, permit)

    def _order(self, mail_type: MailType, first: int = 0) -> list[Route]:
        names = mail_type.providers
        return [self.by_name[names[(first + n) % len(names)]] for n in range(len(names))]


def _first_open(order: list[Route], sender: str) -> Route:
    return next((route for route in order if route.permits.open_for(sender)), order[0])
