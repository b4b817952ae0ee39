"""An attempt without its files: it counts, asks nobody, and sends nobody else."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from consumer.flight import Pilot
from consumer.hand import Departure, InHand, Landed
from consumer.intake.hold import Hold
from consumer.model import (
    Accepted,
    Lease,
    MarkFailed,
    MarkParked,
    MarkSent,
    MarkWaiting,
    Reason,
    Recorded,
    Transition,
)
from consumer.retry import Retry
from consumer.rules import Rules
from tests.unit.line.test_inquiry import MAIL, NOW, RECORD
from tests.unit.line.test_leave import MESSAGE, World

MISSING = "attachment 1: HTTP 404"
ACCEPTED = Accepted("m-1")


@dataclass
class Guard:
    written: list[Transition] = field(default_factory=list)
    counted: list[str] = field(default_factory=list)

    def hold(self, lease: Lease) -> None: ...

    def let_go(self, lease: Lease) -> None: ...

    async def record(self, _lease: Lease, transition: Transition, *_: object) -> Recorded:
        self.written.append(transition)
        return Recorded(NOW)

    async def next_attempt(self, lease: Lease, provider: str, *_: object) -> Lease:
        self.counted.append(provider)
        lease.attempts += 1
        return lease


class Flying:
    """One mail with a file, two providers for it, and up to three attempts a round."""

    def __init__(self, fails: str | None = MISSING) -> None:
        self.world = World(fails, "postmark", "ses")
        self.world.fetcher.gate.set()
        self.asked: list[str] = []
        for name, route in self.world.leaves.routes.by_name.items():
            cast("Any", route.provider).attempt = self._attempt(name)
        self.guard = Guard()
        self.counted: list[str] = []
        counts: Any = SimpleNamespace(
            attempt=lambda provider, *_: self.counted.append(provider),
            append_to_attempt=lambda *_: None,
        )
        self.pilot = Pilot(
            cast("Any", self.guard),
            self.world.leaves.routes,
            Rules(now=lambda: NOW),
            Retry(max_attempts=3, base=0.001, cap=0.002),
            counts,
            cast("Any", self.world.fetcher),
        )
        self.case = InHand(replace(MAIL, type=self.world.kind), RECORD, Hold())

    def _attempt(self, name: str) -> Any:
        async def attempt(*_: object) -> Accepted:
            self.asked.append(name)
            return ACCEPTED

        return attempt

    async def fly(self, round_: int = 0) -> Landed:
        leave = await self.world.take()
        departure = leave.departure(MESSAGE)
        assert isinstance(departure, Departure)
        lease = Lease("k", 1, "t", 9e9, round=round_)
        landing = await self.pilot.fly(self.case, MESSAGE, departure, lease)
        leave.give_back()
        assert isinstance(landing, Landed)
        return landing


async def test_it_uses_up_the_round_and_asks_nobody() -> None:
    flying = Flying()
    landing = await flying.fly()
    assert flying.guard.written == [
        MarkWaiting(MISSING),
        MarkWaiting(MISSING),
        MarkParked(MISSING, 300.0),
    ]
    assert landing.provider == "postmark"
    assert (flying.asked, flying.counted, flying.world.out) == ([], [], 0)


async def test_there_is_no_failover_for_want_of_a_file() -> None:
    """The next provider would lack it as well."""
    flying = Flying()
    await flying.fly()
    assert flying.guard.counted == ["postmark", "postmark"]


async def test_the_last_round_ends_with_the_reason() -> None:
    landing = await Flying().fly(round_=3)
    assert landing.transition == MarkFailed(MISSING, Reason.EXHAUSTED)


async def test_providers_pass_for_sound() -> None:
    """Whatever was not fetched: thirty mails in a row open no breaker."""
    flying = Flying()
    for _ in range(30):
        await flying.fly()
    assert all(permits.open_for("shop") for permits in flying.world.permits.values())


async def test_a_file_that_is_there_by_the_second_attempt_goes_along() -> None:
    flying = Flying()

    async def record(_lease: Lease, transition: Transition, *_: object) -> Recorded:
        flying.world.fetcher.fails = None
        flying.guard.written.append(transition)
        return Recorded(NOW)

    flying.guard.record = record  # type: ignore[method-assign]  # the file comes meanwhile
    await flying.fly()
    assert flying.guard.written == [MarkWaiting(MISSING), MarkSent("postmark", "m-1")]
    assert flying.asked == flying.counted == ["postmark"]
    assert await flying.world.fetcher.all_given_back()


@pytest.mark.parametrize("fails", [None, MISSING])
async def test_nothing_is_held_in_the_end(fails: str | None) -> None:
    flying = Flying(fails)
    await flying.fly()
    assert flying.world.out == 0
    assert await flying.world.fetcher.all_given_back()
