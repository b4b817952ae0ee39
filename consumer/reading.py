"""Reading a record that needs a schema first: the one place where the line waits for a registry.

    record ─▶ mail
           ─▶ NeedsSchema ─▶ the registry is asked ─▶ and the record read again

All else about reading is pure (`making`). While a registry is away, records wait here, claimed by
nobody: their partitions fill up and stop, a revoke or a stop calls them back, no letter is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from consumer.model import NeedsSchema

if TYPE_CHECKING:
    from consumer.making import Making
    from consumer.model import Bad, Mail, Record, Skipped
    from consumer.registry import Registry


@dataclass(frozen=True, slots=True)
class Reading:
    making: Making
    registry: Registry | None = None  # None: nothing that is read ever needs one

    async def read(self, record: Record) -> Mail | Skipped | Bad:
        """Read, however long the registry is away. May be cancelled at any time."""
        while isinstance(read := self.making.read(record), NeedsSchema):
            assert self.registry is not None, "only a registry's schemas are needed"
            await self.registry.learn(read.id)
        return read

    async def glance(self, record: Record) -> Mail | Skipped | Bad | NeedsSchema:
        """Read what can be read after one question, for who can come again."""
        read = self.making.read(record)
        if isinstance(read, NeedsSchema) and self.registry is not None:
            await self.registry.glance(read.id)
            read = self.making.read(record)
        return read

    async def aclose(self) -> None:
        if self.registry is not None:
            await self.registry.aclose()
