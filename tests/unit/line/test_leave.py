"""Leave with files: nobody holds a permit for a slow file server, nor files for a breaker."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, cast

from consumer.hand import Departure
from consumer.intake.hold import Hold
from consumer.leave import Leave, Leaves, Rehearsal
from consumer.model import (
    Address,
    Attachment,
    Blocked,
    Enclosed,
    MailType,
    Message,
    Prepared,
    Rejected,
    Scope,
    TooLate,
    Transient,
)
from consumer.providers.allowance import Allowance
from consumer.providers.fetching import Fetched, Files, Unfetched
from consumer.providers.permits import Permits
from consumer.routes import Route, Routes

FILE = Attachment("a.pdf", "application/pdf", "0" * 64, "https://files.example/a", 100)
PLAIN = Message(
    "k" * 48, "order.receipt", Address("shop@example.com"), Address("ada@example.com"), "s", "t",
    "h", "<k@x>",
)  # fmt: skip
MESSAGE = replace(PLAIN, attachments=(FILE,))


@dataclass
class Fetcher:
    """Waits for its gate, then hands out; counts what is held."""

    fails: str | None = None
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    times: int = 0
    allowance: Allowance = field(default_factory=lambda: Allowance(1 << 20))

    async def fetch(self, attachments: Sequence[Attachment]) -> Files:
        self.times += 1
        self.asked.set()
        await self.gate.wait()
        if self.fails is not None:
            return Unfetched(self.fails)
        share = await self.allowance.take(1 << 20)
        return Fetched(tuple(Enclosed(each, b"pdf") for each in attachments), share)

    async def all_given_back(self) -> bool:
        try:
            async with asyncio.timeout(0.05):
                (await self.allowance.take(1 << 20)).give_back()
        except TimeoutError:
            return False
        return True


def prepare(message: Message, enclosed: Sequence[Enclosed] = ()) -> Prepared | Rejected:
    body = b"".join(each.content for each in enclosed)
    return Prepared(message, body, body.ljust(32))


class World:
    def __init__(self, fails: str | None = None, *names: str) -> None:
        names = names or ("postmark",)
        self.kind = MailType("order.receipt", "orders", names, "shop", max_age=3600.0)
        self.permits = {name: Permits(name, concurrency=1) for name in names}
        self.fetcher = Fetcher(fails)
        self.leaves = Leaves(
            Routes({name: self._route(name) for name in names}), cast("Any", self.fetcher)
        )

    def _route(self, name: str) -> Route:
        provider = SimpleNamespace(name=name, account="acc", prepare=prepare)
        return Route(cast("Any", provider), self.permits[name])

    def take(self, message: Message = MESSAGE) -> asyncio.Task[Leave]:
        return asyncio.create_task(self.leaves.take(self.kind, message, Hold()))

    @property
    def out(self) -> int:
        return sum(each.snapshot().out for each in self.permits.values())

    async def shut(self) -> None:
        permit = await self.permits["postmark"].take("shop", high=False)
        permit.done(Blocked("401", Scope.ACCOUNT))


async def test_without_files_leave_is_a_permit_and_nothing_is_asked() -> None:
    world = World()
    leave = await world.take(PLAIN)
    assert (world.out, world.fetcher.times, leave.files) == (1, 0, None)
    leave.give_back()


async def test_nobody_holds_a_permit_while_files_are_fetched() -> None:
    """A hundred mails whose file server hangs must not keep those that bring no files."""
    world = World()
    taking = world.take()
    await world.fetcher.asked.wait()
    assert world.out == 0
    world.fetcher.gate.set()
    leave = await taking
    departure = leave.departure(MESSAGE)
    assert isinstance(departure, Departure)
    assert (world.out, departure.prepared.body) == (1, b"pdf")
    leave.give_back()
    assert world.out == 0
    assert await world.fetcher.all_given_back()


async def test_nobody_keeps_a_place_in_hand_meanwhile() -> None:
    """Else a file server that hangs would keep all other mails of its worker."""
    world, standing = World(), [0]

    def stand(change: int) -> None:
        standing[0] += change

    taking = asyncio.create_task(world.leaves.take(world.kind, MESSAGE, Hold(stand=stand)))
    await world.fetcher.asked.wait()
    assert standing == [1]
    world.fetcher.gate.set()
    (await taking).give_back()
    assert standing == [0]


async def test_nobody_holds_files_behind_a_breaker() -> None:
    world = World()
    taking = world.take()
    await world.fetcher.asked.wait()
    await world.shut()
    world.fetcher.gate.set()
    done, _ = await asyncio.wait({taking}, timeout=0.05)
    assert not done
    assert await world.fetcher.all_given_back()
    taking.cancel()
    await asyncio.wait({taking})
    assert world.out == 0


async def test_a_parked_mail_comes_again_instead() -> None:
    world = World()
    await world.shut()
    assert await world.leaves.take_unless_shut(world.kind, MESSAGE, Hold()) is None
    assert world.fetcher.times == 0


async def test_called_back_while_it_fetches_holds_nothing() -> None:
    world = World()
    taking = world.take()
    await world.fetcher.asked.wait()
    taking.cancel()
    await asyncio.wait({taking})
    assert world.out == 0
    assert await world.fetcher.all_given_back()


async def test_without_its_files_it_departs_for_an_attempt_that_sends_nothing() -> None:
    """And what that comes to says nothing about the provider, which was not asked."""
    world = World("attachment 1: HTTP 404")
    world.fetcher.gate.set()
    leave = await world.take()
    departure = leave.departure(MESSAGE)
    assert isinstance(departure, Departure)
    assert departure.unfetched == "attachment 1: HTTP 404"
    assert departure.prepared.body == b""
    for _ in range(50):
        departure.over(Transient("attachment 1: HTTP 404"))
    assert (world.out, departure.found_shut("shop"), departure.probed) == (0, False, False)
    assert world.permits["postmark"].open_for("shop")


async def test_bytes_are_let_go_of_after_the_attempt() -> None:
    """Also where its frame lives on: while the next attempt waits, megabytes would add up."""
    world = World()
    world.fetcher.gate.set()
    departure = (await world.take()).departure(MESSAGE)
    assert isinstance(departure, Departure)
    hashed = departure.prepared.body_hash
    departure.over(TooLate())
    assert (departure.prepared.body, departure.prepared.body_hash) == (b"", hashed)
    assert await world.fetcher.all_given_back()


async def test_a_rehearsal_holds_nothing_in_the_end() -> None:
    world = World()
    world.fetcher.gate.set()
    provider = world.leaves.routes.by_name["postmark"].provider
    rehearsal = Rehearsal(cast("Any", world.fetcher), seconds=60)
    ready = await rehearsal.of(provider, MESSAGE)
    assert isinstance(ready, Prepared)
    assert ready.body == b"pdf"
    assert await world.fetcher.all_given_back()
    world.fetcher.fails = "attachment 1: HTTP 404"
    assert await rehearsal.of(provider, MESSAGE) == Unfetched("attachment 1: HTTP 404")
    rehearsal.seconds = 0.0
    assert await rehearsal.of(provider, MESSAGE) is None
    assert isinstance(await rehearsal.of(provider, PLAIN), Prepared)
