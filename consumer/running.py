"""A started service: what works between start and stop, and in which order it stops."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from consumer.admin import Heartbeat
    from consumer.guard import Guard
    from consumer.intake.loop import Intake
    from consumer.newcomers import Newcomers
    from consumer.resolver import Resolver
    from consumer.rotation import Rotation
    from consumer.routes import Routes
    from consumer.sweep import Sweep
    from consumer.upkeep import Upkeep
    from consumer.vitals import Vitals

RESOLVER: Final = "resolver"  # the task that has last words


@dataclass(frozen=True, slots=True)
class Running:
    """What its owner runs, and later stops."""

    guard: Guard
    routes: Routes
    intake: Intake
    resolver: Resolver
    sweep: Sweep
    newcomers: Newcomers
    upkeep: Upkeep
    rotation: Rotation

    async def keep(self) -> None:
        await self.guard.renew_forever()

    def tasks(self, pulse: Heartbeat, vitals: Vitals) -> list[asyncio.Task[None]]:
        rotating = self.rotation.run(self.routes, vitals.refused)
        return [
            asyncio.create_task(self.intake.run(), name="intake"),
            asyncio.create_task(self.resolver.run(), name=RESOLVER),
            asyncio.create_task(self.sweep.run(), name="sweep"),
            asyncio.create_task(self.newcomers.run(), name="newcomers"),
            asyncio.create_task(rotating, name="rotation"),
            asyncio.create_task(self.routes.fuses.tend(self.guard), name="fuses"),
            *self.upkeep.tasks(pulse),
        ]

    async def stop(self, budget: float) -> str | None:
        """Drain; the resolver then tells upstream what it settled."""
        self.resolver.stop()
        await self.intake.stop(budget)
        return RESOLVER

    async def leave(self) -> None:
        await self.guard.leave()
