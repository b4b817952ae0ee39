"""Records that end without a flight: dead letters, and rows that nobody may send for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog

from consumer import endings
from consumer.fuses import Fuses
from consumer.model import Bad, Claim, Fenced, Found, MarkExpired, MarkUnknown, Reason

if TYPE_CHECKING:
    from consumer.endings import Ended, Ending
    from consumer.guard import Guard
    from consumer.hand import InHand
    from consumer.intake.hold import Hold
    from consumer.model import Record, Rejected, Row, SkipRule

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Aside:
    """Sets records aside, visibly. None: somebody was faster; look at the row again."""

    guard: Guard
    fuses: Fuses = field(default_factory=Fuses)

    async def expire(self, row: Row, rule: SkipRule, case: InHand, token: str) -> Ending | None:
        """An open row that got too old: taken over only to be ended, without an attempt."""
        expired = MarkExpired(f"held back: {rule}")
        bytes_of = row.body_hash or bytes(32)
        claim = Claim(
            case.mail, case.record, token, row.provider, row.account, bytes_of, row,
            clears_doubt=True,  # an `unknown` one comes here only when it was proven never sent
        )  # fmt: skip
        with case.hold.fixed():
            granted = await self.guard.claim(claim)
            if isinstance(granted, Found):
                return None
            result = await self.guard.record(granted.lease, expired, case.mail, case.record)
        if isinstance(result, Fenced):
            return None
        return endings.landed(case.record, case.mail, expired, row.provider, None)

    async def abandon(self, row: Row, case: InHand) -> Ending | None:
        """Whoever was sending is gone, and nobody knows how far it came."""
        with case.hold.fixed():
            result = await self.guard.abandon(row, case.mail.type.name, case.record)
        if isinstance(result, Fenced):
            return None
        unknown = MarkUnknown("the sending worker is gone", row.provider)
        return endings.landed(case.record, case.mail, unknown, row.provider, None)

    async def park(self, record: Record, bad: Bad, hold: Hold, *, fresh: bool) -> Ended:
        """`fresh`: from Kafka; such a one waits here while its topic's fuse is blown."""
        if fresh:
            bad = await self.fuses.judge(record, bad, hold)
        with hold.fixed():
            await self.guard.park(record, bad, fresh=fresh)
        if bad.reason is Reason.FUSED:
            self.fuses.mark_topic(record.coordinates)
        log.warning(
            "dead letter",
            reason=bad.reason,
            detail=bad.detail,
            key=bad.idempotency_key,
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
        )
        return endings.dead_letter(record, bad)

    async def reject(self, rejected: Rejected, case: InHand) -> Ended:
        """The provider would refuse these bytes, so they are not even tried."""
        bad = Bad(Reason.REJECTED, rejected.error, case.mail.type.name, case.mail.key)
        return await self.park(case.record, bad, case.hold, fresh=not case.parked)

    async def refuse(self, reason: Reason, row: Row, case: InHand) -> Ended:
        """Same key, other content; or same record, other key. Never sent, never overwritten."""
        detail = f"row {row.key} is {row.status}"
        bad = Bad(reason, detail, case.mail.type.name, case.mail.key)
        return await self.park(case.record, bad, case.hold, fresh=not case.parked)

    async def park_too(self, row: Row, case: InHand) -> Ending | None:
        """This record shares the fate of a row that is not settled yet."""
        with case.hold.fixed():
            result = await self.guard.park_too(case.record, case.mail.type.name, row)
        if isinstance(result, Fenced):
            return None
        return endings.stored(case.record, case.mail, row, duplicate=False)
