"""Rows that nobody will come back for: their worker died, and their record is not delivered again.

A deploy no longer reads the record, or it was committed, or retention took it. Its row would stay
open for ever. The record is read back from Kafka while it is there, for whoever settles it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import structlog

from consumer.intake.cluster import KafkaRefusedError, KafkaUnreachableError
from consumer.intake.kafka import RecordGoneError
from consumer.model import Status

if TYPE_CHECKING:
    from consumer.guard import Guard
    from consumer.intake.kafka import Reader
    from consumer.model import Row

log = structlog.get_logger(__name__)

EVERY = 60.0  # seconds between two sweeps; a row is stale after ten minutes
TOGETHER = 50


@dataclass(frozen=True, slots=True)
class Sweep:
    """Makes `sending` rows unknown and parks `waiting` ones, so that the resolver goes on."""

    guard: Guard
    reader: Reader

    async def run(self) -> NoReturn:
        while True:
            for row in await self.guard.stale(TOGETHER):
                await self._sweep(row)
            await asyncio.sleep(EVERY)

    async def _sweep(self, row: Row) -> None:
        """One row that meets a defect must not end every worker that comes by."""
        try:
            await self._take(row)
        except Exception:
            log.exception("a sweep failed", key=row.key, alert="defect")

    async def _take(self, row: Row) -> None:
        """Every worker sweeps: whoever is second finds that the row has moved on."""
        assert row.coordinates is not None, "an open row has coordinates"
        try:
            record = await self.reader.read(row.coordinates)
        except RecordGoneError as gone:
            log.error("orphaned", key=row.key, status=row.status, why=str(gone))  # noqa: TRY400 - a finding, not a defect
            await self.guard.orphan(row, str(gone))
        except (KafkaUnreachableError, KafkaRefusedError) as problem:
            log.warning("cannot sweep", key=row.key, error=str(problem))  # the next sweep will
        else:
            log.warning("swept", key=row.key, status=row.status)
            if row.status is Status.SENDING:
                await self.guard.abandon(row, row.mail_type, record)
            else:
                await self.guard.park_too(record, row.mail_type, row)
