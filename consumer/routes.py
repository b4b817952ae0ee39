"""Which provider takes a mail: the first of its type's whose breaker lets it through."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from consumer.evidence import Means
from consumer.fuses import Fuses
from consumer.model import Priority
from consumer.pauses import Pauses

if TYPE_CHECKING:
    from collections.abc import Mapping

    from consumer.intake.hold import Hold
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
    """The ways out, by the provider's name. `pauses`: what a person has stopped goes by none."""

    by_name: Mapping[str, Route]
    pauses: Pauses = field(default_factory=Pauses)
    fuses: Fuses = field(default_factory=Fuses)

    async def permit(self, mail_type: MailType, hold: Hold, first: int = 0) -> tuple[Route, Permit]:
        """Wait until some provider of this type may be asked; `first`: the one to prefer."""
        while True:
            if self.pauses.holds(mail_type):
                with hold.standing():
                    await self.pauses.lifted(mail_type)
            route, permit = await self._permit(mail_type, first)
            if not self.pauses.stops(mail_type.name, route.provider.name):
                return route, permit
            permit.give_back()  # it was stopped while it waited

    async def permit_unless_shut(
        self, mail_type: MailType, first: int = 0
    ) -> tuple[Route, Permit] | None:
        """Like `permit`, but None where every one of them is shut: for who can come again."""
        if self.pauses.holds(mail_type):
            return None
        route = _first_open(self._order(mail_type, first), mail_type.sender)
        permit = await self.permit_at(route, mail_type)
        return None if permit is None else (route, permit)

    async def permit_at(self, route: Route, mail_type: MailType) -> Permit | None:
        """Get leave at this very provider; None where it is shut, or stopped."""
        if self.pauses.stops(mail_type.name, route.provider.name):
            return None
        high = mail_type.priority is Priority.HIGH
        permit = await route.permits.take_unless_shut(mail_type.sender, high=high)
        if permit is not None and self.pauses.stops(mail_type.name, route.provider.name):
            permit.give_back()
            return None
        return permit

    async def _permit(self, mail_type: MailType, first: int) -> tuple[Route, Permit]:
        high = mail_type.priority is Priority.HIGH
        while True:
            order = self._order(mail_type, first)
            if len(order) == 1:
                return order[0], await order[0].leave(mail_type.sender, high=high)
            route = _first_open(order, mail_type.sender)
            permit = await route.permits.take_unless_shut(mail_type.sender, high=high)
            if permit is not None:
                return route, permit
            await asyncio.sleep(CHOOSE_AGAIN)  # every one of them is shut

    def _order(self, mail_type: MailType, first: int = 0) -> list[Route]:
        """Return its providers, the preferred one first; paused ones where there are no others."""
        names = mail_type.providers
        order = [self.by_name[names[(first + n) % len(names)]] for n in range(len(names))]
        if not self.pauses.any:
            return order
        return [one for one in order if not self._stopped(mail_type, one)] or order

    def _stopped(self, mail_type: MailType, route: Route) -> bool:
        return self.pauses.stops(mail_type.name, route.provider.name)


def _first_open(order: list[Route], sender: str) -> Route:
    return next((route for route in order if route.permits.open_for(sender)), order[0])
