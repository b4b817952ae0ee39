"""The laws, under a storm: workers that crash, freeze, race and come back late.

Several workers handle the same records against one real Postgres. Each step is chosen at random:
deliver a record to a worker, let it send (or lose the answer, or be refused), let it die, let it
come back after its lease is over. Whatever happens, no key is accepted twice, no attempt starts
beyond the cap, and in the end every record has a state that someone can see.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import pytest

from consumer.guard import (
    Abandoned,
    AlsoParked,
    Guard,
    LetterStatus,
    TakeOver,
    Wait,
    judge,
)
from consumer.model import (
    Claim,
    Granted,
    Lease,
    MarkFailed,
    MarkSent,
    MarkUnknown,
    MarkWaiting,
    Reason,
    Record,
    Status,
    Transition,
)
from tests.integration.guard.builders import claim, key_of, record
from tests.integration.guard.conftest import Open

CAP = 3
NAMES = ("a", "b", "c")
STEPS = 150
LEASES_END = "UPDATE sent_message SET lease_until = now() WHERE lease_until > now()"


@dataclass
class World:
    guards: list[Guard]
    dice: random.Random
    records: list[tuple[str, Record]] = field(default_factory=list)
    flying: list[tuple[Guard, Lease, Claim]] = field(default_factory=list)
    accepted: dict[str, int] = field(default_factory=dict)
    attempts: dict[str, int] = field(default_factory=dict)

    async def sql(self, statement: str, *args: object) -> list[Any]:
        return list(await self.guards[0]._rest.run(lambda c: c.fetch(statement, *args)))

    async def step(self) -> None:
        match self.dice.choice(["deliver", "deliver", "fly", "fly", "die", "late"]):
            case "deliver":
                await self.deliver(self.dice.choice(self.guards), *self.dice.choice(self.records))
            case "fly" if self.flying:
                await self.fly(self.flying.pop(self.dice.randrange(len(self.flying))))
            case "die" if self.flying:
                self.flying.pop(self.dice.randrange(len(self.flying)))
            case _:
                await self.sql(LEASES_END)

    async def deliver(self, guard: Guard, name: str, at: Record) -> bool:
        """Return whether the record is finished."""
        item = claim(name, at)
        row = await guard.look(item.mail.key, item.mail.type.name, at.coordinates)
        if row is None:
            return await self.ask(guard, item)
        match judge(row, item.mail, at.coordinates, CAP):
            case TakeOver():
                return await self.ask(guard, claim(name, at, takes=row))
            case Abandoned():
                await guard.abandon(row, item.mail.type.name, at)
                return False
            case AlsoParked():
                await guard.park_too(at, item.mail.type.name, row)
                return True
            case Wait():
                return False
            case _:
                return True

    async def ask(self, guard: Guard, item: Claim) -> bool:
        result = await guard.claim(item)
        if isinstance(result, Granted):
            self.flying.append((guard, result.lease, item))
        return False

    async def fly(self, flight: tuple[Guard, Lease, Claim]) -> None:
        guard, lease, item = flight
        if not await self.may_send(lease):
            return
        self.attempts[lease.key] = max(self.attempts.get(lease.key, 0), lease.attempts)
        end = self.dice.choice(["sent", "lost", "refused", "rejected", "unknown", "unavailable"])
        if end in {"sent", "lost", "unknown"}:
            self.accepted[lease.key] = self.accepted.get(lease.key, 0) + 1
        endings: dict[str, Transition] = {
            "sent": MarkSent("file", f"id-{lease.token}"),
            "refused": MarkFailed("suppressed"),
            "rejected": MarkFailed("422", Reason.REJECTED),
            "unknown": MarkUnknown("reset", "file"),
            "unavailable": MarkWaiting("503"),
        }
        transition = endings.get(end)
        if transition is None:
            return
        await guard.record(lease, transition, item.mail, item.record)
        if end == "unavailable" and lease.attempts < CAP:
            again = await guard.next_attempt(lease, "file", "account", b"h" * 32)
            if isinstance(again, Lease):
                self.flying.append((guard, again, item))

    async def may_send(self, lease: Lease) -> bool:
        """Stand in for the deadline: past the end of its lease a process writes no byte."""
        rows = await self.sql(
            "SELECT 1 FROM sent_message WHERE idempotency_key = $1 AND epoch = $2 AND token = $3"
            " AND lease_until > now() AND status = 'sending'",
            lease.key, lease.epoch, lease.token,
        )  # fmt: skip
        return bool(rows)


@pytest.mark.parametrize("seed", range(6))
async def test_no_key_is_accepted_twice_and_every_record_ends_in_sight(
    open_guard: Open, seed: int
) -> None:
    world = World([await open_guard() for _ in range(3)], random.Random(seed))
    world.records = [(world.dice.choice(NAMES), record()) for _ in range(8)]
    for _ in range(STEPS):
        await world.step()
    world.flying.clear()
    for name, at in world.records:
        await settle(world, name, at)
    assert all(n == 1 for n in world.accepted.values()), world.accepted
    assert all(n <= CAP for n in world.attempts.values()), world.attempts
    await no_row_is_left_open_unseen(world)


async def settle(world: World, name: str, at: Record) -> None:
    """Redeliver, as Kafka does until it is committed; the last worker sends whatever it may."""
    for _ in range(20):
        if await world.deliver(world.guards[0], name, at):
            return
        while world.flying:
            guard, lease, item = world.flying.pop()
            if await world.may_send(lease):
                world.accepted[lease.key] = world.accepted.get(lease.key, 0) + 1
                proof = MarkSent("file", "last")
                await guard.record(lease, proof, item.mail, item.record)
        await world.sql(LEASES_END)
    pytest.fail(f"{name} never finishes")


async def no_row_is_left_open_unseen(world: World) -> None:
    letters = await world.guards[0].dead_letters()
    seen = {one.idempotency_key for one in letters if one.status is not LetterStatus.SETTLED}
    for name in NAMES:
        story = await world.guards[0].show(key_of(name))
        if story is None:
            continue
        assert story.row.status not in {Status.SENDING, Status.WAITING} or key_of(name) in seen
        assert story.row.status is not Status.UNKNOWN or key_of(name) in seen
        if story.row.status is Status.SENT:
            assert key_of(name) not in seen
