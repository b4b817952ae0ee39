"""What the cluster is told: liveness, that a restart can mend, and readiness, that it cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from consumer.admin import Health
from consumer.providers.breaker import State

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence
    from datetime import datetime

    from consumer.admin import Heartbeat
    from consumer.intake.loop import Intake
    from consumer.registry import Registry
    from consumer.routes import Routes

STARTING = "starting"


class Reached(Protocol):
    """What reaches Postgres: the guard, or a shadow's onlooker."""

    @property
    def away_since(self) -> datetime | None: ...


class Vitals:
    """Checks that answer from memory, also while the service is still starting."""

    def __init__(self, pulse: Heartbeat) -> None:
        self._pulse = pulse
        self._tasks: Sequence[asyncio.Task[None]] = ()
        self.intake: Intake | None = None
        self._guard: Reached | None = None
        self._routes: Routes | None = None
        self.registry: Registry | None = None  # None: none is configured

    def health(self) -> Health:
        return Health(
            alive={"event loop": self._loop, "tasks": self._owned, "poll loop": self._poll_loop},
            ready={
                "assignment": self._assigned,
                "kafka": self._kafka,
                "postgres": self._postgres,
                "providers": self._open,
                "pause": self._paused,
                "registry": self._registry,
                "fuses": self._fuses,
            },
        )

    def watch(self, intake: Intake, guard: Reached, routes: Routes) -> None:
        self.intake, self._guard, self._routes = intake, guard, routes

    def own(self, tasks: Sequence[asyncio.Task[None]]) -> None:
        self._tasks = tasks

    def refused(self) -> bool:
        """Whether something we sign in to is away, or lets nothing out: a new secret may be why."""
        blocked = self._routes is not None and any(
            route.permits.snapshot().state is not State.CLOSED
            for route in self._routes.by_name.values()
        )
        return blocked or bool(self._kafka() or self._postgres() or self._registry())

    def _loop(self) -> str | None:
        return self._pulse() if self._tasks else None

    def _owned(self) -> str | None:
        dead = [task.get_name() for task in self._tasks if task.done()]
        return f"ended: {', '.join(dead)}" if dead else None

    def _poll_loop(self) -> str | None:
        if self.intake is None or self.intake.healthy():
            return None
        return "a part of the intake has ended"

    def _assigned(self) -> str | None:
        if self.intake is None:
            return STARTING
        seconds = self.intake.watch().unassigned
        return f"no partition for {seconds:.0f} s" if seconds > 0 else None

    def _kafka(self) -> str | None:
        if self.intake is None:
            return STARTING
        return _unreachable(self.intake.watch().away_since)

    def _postgres(self) -> str | None:
        if self._guard is None:
            return STARTING
        return _unreachable(self._guard.away_since)

    def _open(self) -> str | None:
        """Ready while any provider takes mail; one that stands still is told by its own alert."""
        if self._routes is None:
            return STARTING
        states = {n: r.permits.snapshot().state for n, r in self._routes.by_name.items()}
        shut = [name for name, state in states.items() if state is State.OPEN]
        return f"breaker open: {', '.join(shut)}" if len(shut) == len(states) else None

    def _fuses(self) -> str | None:
        blown = self._routes.fuses.blown if self._routes is not None else ()
        return f"blown: {'; '.join(map(str, blown))}" if blown else None

    def _registry(self) -> str | None:
        """Known only while some record waits for a schema; else nobody asks it."""
        return None if self.registry is None else _unreachable(self.registry.away_since)

    def _paused(self) -> str | None:
        """Ready while anything goes out; what a person stopped in part is told by its metric."""
        pauses = None if self._routes is None else self._routes.pauses
        if pauses is None or not pauses.standing or not pauses.stands_still():
            return None
        return f"paused: {', '.join(map(str, pauses.standing))}"


def _unreachable(since: datetime | None) -> str | None:
    return f"unreachable since {since.isoformat(timespec='seconds')}" if since else None
