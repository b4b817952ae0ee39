"""The table of pauses in memory, for who reads and writes it."""

from __future__ import annotations

from datetime import UTC, datetime

from consumer.guard.pauses import Pause, PauseTable, Target


class Table(PauseTable):
    """The table in memory."""

    def __init__(self) -> None:
        self.rows: dict[Target, Pause] = {}

    async def read(self) -> tuple[Pause, ...]:
        return tuple(self.rows.values())

    async def put(self, target: Target, by: str, why: str) -> None:
        self.rows.setdefault(target, Pause(target, by, why, datetime(2026, 3, 1, tzinfo=UTC)))

    async def lift(self, target: Target) -> Pause | None:
        return self.rows.pop(target, None)

    async def parked(self) -> dict[str, int]:
        return {"order.receipt": 3}
