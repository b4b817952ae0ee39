"""What a person has stopped: a row each, which every worker reads every two seconds.

A pause is lifted by deleting its row. Both may be repeated: what stands is what counts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol, TypeVar

T = TypeVar("T")

READ = "SELECT scope, name, by, why, since FROM pause ORDER BY since, scope, name"
PUT = """
    INSERT INTO pause (scope, name, by, why) VALUES ($1, $2, $3, $4)
    ON CONFLICT (scope, name) DO NOTHING
"""
LIFT = "DELETE FROM pause WHERE scope = $1 AND name = $2 RETURNING scope, name, by, why, since"
# What is parked has a date of its own, and waits with its mail type.
PARKED = """
    SELECT event_type, count(*) FROM dead_letter
     WHERE status = 'parked' AND event_type IS NOT NULL GROUP BY event_type
"""


class Scope(StrEnum):
    ALL = "all"
    TYPE = "type"
    PROVIDER = "provider"


@dataclass(frozen=True, slots=True, order=True)
class Target:
    """What is stopped. `name`: of the mail type, or of the provider's section; "" for all."""

    scope: Scope
    name: str = ""

    def __str__(self) -> str:
        return "all" if self.scope is Scope.ALL else f"{self.scope} {self.name}"


@dataclass(frozen=True, slots=True)
class Pause:
    target: Target
    by: str
    why: str
    since: datetime


class Connections(Protocol):
    async def run(self, work: Callable[[Any], Awaitable[T]]) -> T: ...


class PauseTable:
    """`read`, `put`, `lift`: through connections that repeat while Postgres is away."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def read(self) -> tuple[Pause, ...]:
        """Return what is paused, the longest first."""
        rows = await self._connections.run(lambda c: c.fetch(READ))
        return tuple(map(_pause, rows))

    async def put(self, target: Target, by: str, why: str) -> None:
        """Pause it; one that stands already stays as it is."""
        values = (target.scope, target.name, _plain(by), _plain(why))
        await self._connections.run(lambda c: c.execute(PUT, *values))

    async def lift(self, target: Target) -> Pause | None:
        """End a pause; return it as it stood, None where there was none."""
        row = await self._connections.run(lambda c: c.fetchrow(LIFT, target.scope, target.name))
        return None if row is None else _pause(row)

    async def parked(self) -> dict[str, int]:
        """Count what is parked, by mail type."""
        return dict(map(tuple, await self._connections.run(lambda c: c.fetch(PARKED))))


def _pause(row: Any) -> Pause:
    return Pause(Target(Scope(row["scope"]), row["name"]), row["by"], row["why"], row["since"])


def _plain(text: str) -> str:
    """A text column takes no NUL."""
    return text.replace("\0", "")
