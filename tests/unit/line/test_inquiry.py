"""One step about an unknown outcome: whatever it comes to, its permit does not stay out."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from structlog.testing import capture_logs

from consumer.endings import Ended
from consumer.guard.parking import Age, Due
from consumer.hand import InHand
from consumer.inquiry import Inquiry
from consumer.intake.hold import Hold
from consumer.model import (
    Address,
    Coordinates,
    Evidence,
    Mail,
    MailType,
    Message,
    OnUnknown,
    Outcome,
    OutcomeStatus,
    Prepared,
    Record,
    Recorded,
    Rejected,
    Row,
    Status,
)
from consumer.providers.lookups import Found
from consumer.providers.permits import Permits
from consumer.routes import Route, Routes
from consumer.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from consumer.endings import Ending

KEY = "a" * 48
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
AT = Coordinates("orders", 0, 7, 1_000)
RECORD = Record("orders", 0, 7, 1_000, None, b"{}", ())
TYPE = MailType("order.receipt", "orders", ("smtp",), "shop", 3600.0, on_unknown=OnUnknown.RESEND)
MAIL = Mail(TYPE, KEY, "A-1", "ada@example.com", "f", {}, NOW)
MESSAGE = Message(
    KEY, "order.receipt", Address("shop@example.com"), Address("ada@example.com"), "s", "t", "h",
    "<k@x>",
)  # fmt: skip
ROW = Row(
    KEY, "order.receipt", Status.UNKNOWN, "f", "", "smtp", "acc", attempts=1, round=0, epoch=1,
    owner="o", token="t", lease_live=False, in_doubt=True, coordinates=AT,
)  # fmt: skip


class World:
    """An inquiry whose provider would be asked once more, by policy."""

    def __init__(
        self,
        prepared: Prepared | Rejected,
        once_more: Callable[..., Awaitable[Ending | None]],
        lookup: object = None,
    ) -> None:
        self.put_off: list[float | None] = []
        self.permits = Permits("smtp", concurrency=1)
        provider = SimpleNamespace(
            name="smtp", account="acc", window=0.0, lookup=lookup, prepare=lambda _: prepared
        )
        routes = Routes({"smtp": Route(cast("Any", provider), self.permits)})
        pilot = SimpleNamespace(
            routes=routes, rules=Rules(now=lambda: NOW), retry=SimpleNamespace(max_attempts=4)
        )
        line = SimpleNamespace(making=SimpleNamespace(message=lambda _: MESSAGE))
        takeoff = SimpleNamespace(pilot=pilot, once_more=once_more)
        guard = SimpleNamespace(put_off=self._put_off, prove=_recorded)
        self._inquiry = Inquiry(cast("Any", line), cast("Any", guard), cast("Any", takeoff))

    async def _put_off(self, _row: Row, look_in: float | None, _event: str, _why: str) -> bool:
        self.put_off.append(look_in)
        return True

    async def settle(self) -> None:
        due = Due(cast("Any", None), RECORD, ROW, Age(200.0, 200.0, 200.0, 0.0))
        await self._inquiry.settle(ROW, due, InHand(MAIL, RECORD, Hold()))


async def test_what_its_provider_would_not_take_any_more_is_opened_and_holds_no_permit() -> None:
    world = World(Rejected("a header is there twice"), _never)
    await world.settle()
    assert world.put_off == [None]
    assert world.permits.snapshot().out == 0


async def test_a_defect_on_the_way_takes_no_permit_along() -> None:
    world = World(Prepared(MESSAGE, b"", b"", {}, ""), _defect)
    with pytest.raises(ZeroDivisionError):
        await world.settle()
    assert world.permits.snapshot().out == 0


@pytest.mark.parametrize("by", [Evidence.LOOKUP, Evidence.POLICY])
async def test_what_is_settled_here_is_logged_under_its_key(by: Evidence) -> None:
    """Else a search for the key in the log would end with `answer: Unclear`."""
    sight = SimpleNamespace(look_up=_found, visible_after=60.0, absence_proves=False)
    asked = sight if by is Evidence.LOOKUP else None
    world = World(Prepared(MESSAGE, b"", b"", {}, ""), _sent, asked)
    with capture_logs() as lines:
        await world.settle()
    assert lines == [
        {
            "event": "settled", "log_level": "info", "key": KEY, "by": by, "provider": "smtp",
            "provider_message_id": "id-1",
        }
    ]  # fmt: skip


async def _sent(*_: object) -> Ended:
    outcome = Outcome(OutcomeStatus.SENT, AT, provider="smtp", provider_message_id="id-1")
    return Ended(outcome, OutcomeStatus.SENT)


async def _found(_: Message) -> Found:
    return Found("id-1")


async def _recorded(*_: object) -> Recorded:
    return Recorded(NOW)


async def _never(*_: object) -> None:
    raise AssertionError("nothing may be sent")


async def _defect(*_: object) -> None:
    raise ZeroDivisionError
