"""The table of pauses: what stands is what counts, however often it was said."""

from __future__ import annotations

from consumer.guard import Guard
from consumer.guard.desk import Desk
from consumer.guard.pauses import Scope, Target
from tests.integration.guard.builders import claim, granted
from tests.integration.guard.conftest import Sql

ALL = Target(Scope.ALL)
RECEIPTS = Target(Scope.TYPE, "order.receipt")


async def test_who_paused_first_stays_named_and_a_repeat_changes_nothing(guard: Guard) -> None:
    """An answer of the database that was lost is repeated."""
    await guard.pauses.put(RECEIPTS, "ada", "wrong prices")
    await guard.pauses.put(RECEIPTS, "bob", "me too")
    await guard.pauses.put(ALL, "bob", "a double\0")
    first, second = await guard.pauses.read()
    assert (first.target, first.by, first.why) == (RECEIPTS, "ada", "wrong prices")
    assert (second.target, second.why) == (ALL, "a double")
    assert await guard.pauses.lift(RECEIPTS) == first
    assert await guard.pauses.lift(RECEIPTS) is None
    assert await guard.pauses.read() == (second,)


async def test_a_person_at_the_desk_and_a_worker_see_the_same(guard: Guard, database: str) -> None:
    desk = await Desk.open(database, environment="test")
    try:
        await desk.pauses.put(ALL, "ada", "x")
        assert await guard.pauses.read() == await desk.pauses.read() != ()
    finally:
        await desk.close()


async def test_what_is_parked_is_counted_by_its_type(guard: Guard, sql: Sql) -> None:
    for name in ("a", "b"):
        item = claim(name)
        granted(await guard.claim(item))
        await sql("UPDATE sent_message SET lease_until = now() WHERE status = 'sending'")
        row = await guard.look(item.mail.key, item.mail.type.name, item.record.coordinates)
        assert row is not None
        await guard.abandon(row, item.mail.type.name, item.record)
    assert await guard.pauses.parked() == {claim("a").mail.type.name: 2}
