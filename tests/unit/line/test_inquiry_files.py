"""An unknown outcome of a mail with files: they are fetched when it goes again, and not before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from consumer.endings import Ended
from consumer.evidence import ASK_PATIENCE
from consumer.guard.parking import Age, Due
from consumer.hand import Departure, Doubt, InHand
from consumer.inquiry import Inquiry
from consumer.intake.hold import Hold
from consumer.model import Evidence, Mail, Message, OnUnknown, Recorded, Rejected, Row
from consumer.providers.lookups import Absent
from consumer.rules import Rules
from tests.unit.line.test_inquiry import MAIL, NOW, RECORD, ROW, TYPE
from tests.unit.line.test_leave import MESSAGE, World

SENT = Ended(None, "sent")
SAME = b"pdf".ljust(32)  # the hash of what `test_leave.prepare` makes


@dataclass
class Asked:
    visible_after = 0.0
    absence_proves = False
    times: int = 0

    async def look_up(self, _: Message) -> Absent:
        self.times += 1
        return Absent()


class Asking:
    """An unknown row of a mail with a file, and the provider that may have it."""

    def __init__(
        self,
        *,
        window: float = 86_400.0,
        lookup: Asked | None = None,
        fails: str | None = None,
        policy: OnUnknown = OnUnknown.HOLD,
    ) -> None:
        self.world = World(fails, "smtp")
        self.world.fetcher.gate.set()
        route = self.world.leaves.routes.by_name["smtp"]
        vars(route.provider).update(account="acc", window=window, lookup=lookup)
        self.flown: list[Evidence] = []
        self.put_off: list[tuple[float | None, str]] = []
        pilot = SimpleNamespace(
            routes=self.world.leaves.routes,
            rules=Rules(now=lambda: NOW),
            retry=SimpleNamespace(max_attempts=4),
            fetcher=self.world.fetcher,
        )
        line = SimpleNamespace(making=SimpleNamespace(message=lambda _: MESSAGE))
        takeoff = SimpleNamespace(pilot=pilot, once_more=self._once_more)
        guard = SimpleNamespace(put_off=self._put_off)
        self._inquiry = Inquiry(cast("Any", line), cast("Any", guard), cast("Any", takeoff))
        self.mail: Mail = replace(MAIL, type=replace(TYPE, on_unknown=policy))

    async def _once_more(self, _: InHand, departure: Departure, __: Row, doubt: Doubt) -> Ended:
        assert departure.prepared.body == b"pdf"
        self.flown.append(doubt.by)
        return SENT

    async def _put_off(self, _: Row, look_in: float | None, _event: str, why: str) -> Recorded:
        self.put_off.append((look_in, why))
        return Recorded(NOW)

    async def settle(self, *, sent: bytes = SAME, ago: float = 200.0) -> None:
        row = replace(ROW, body_hash=sent)
        due = Due(cast("Any", None), RECORD, row, Age(ago, ago, ago, 0.0))
        await self._inquiry.settle(row, due, InHand(self.mail, RECORD, Hold()))
        assert self.world.out == 0
        assert await self.world.fetcher.all_given_back()


async def test_a_repeat_fetches_again_and_sends_the_same_bytes() -> None:
    asking = Asking()
    await asking.settle()
    assert (asking.flown, asking.world.fetcher.times) == ([Evidence.REPEAT], 1)


async def test_other_bytes_are_no_repeat() -> None:
    """Whatever the file is by now: under the key of the first mail only that mail is sent."""
    asking = Asking()
    await asking.settle(sent=b"x" * 32)
    assert (asking.flown, asking.put_off) == ([], [(None, "nothing is left to ask")])


async def test_a_file_that_is_away_is_waited_for_and_then_a_person_decides() -> None:
    asking = Asking(fails="attachment 1: HTTP 503")
    await asking.settle()
    await asking.settle(ago=ASK_PATIENCE)
    assert asking.flown == []
    assert asking.put_off == [
        (400.0, "attachment 1: HTTP 503"),
        (None, "nothing is left to ask"),
    ]


async def test_who_only_asks_fetches_nothing() -> None:
    lookup = Asked()
    asking = Asking(window=0.0, lookup=lookup)
    await asking.settle()
    assert (lookup.times, asking.world.fetcher.times, asking.flown) == (1, 0, [])


@pytest.mark.parametrize("policy", [OnUnknown.HOLD, OnUnknown.RESEND])
async def test_the_policy_sends_it_with_its_files(policy: OnUnknown) -> None:
    asking = Asking(window=0.0, lookup=Asked(), policy=policy)
    await asking.settle(sent=b"x" * 32)
    resent = policy is OnUnknown.RESEND
    assert asking.flown == ([Evidence.POLICY] if resent else [])
    assert asking.world.fetcher.times == int(resent)


async def test_what_its_provider_would_not_take_any_more_is_opened() -> None:
    asking = Asking(window=0.0, policy=OnUnknown.RESEND)
    provider = asking.world.leaves.routes.by_name["smtp"].provider
    vars(provider).update(prepare=lambda *_: Rejected("too large"))
    await asking.settle()
    assert (asking.flown, asking.put_off) == ([], [(None, "nothing is left to ask")])
