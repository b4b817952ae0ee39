"""Recipients are blanked in time, and are found by whoever has the key."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from unittest.mock import MagicMock

import pytest

from consumer.admin import Heartbeat
from consumer.guard import Guard, blanking
from consumer.guard.desk import Desk
from consumer.guard.mentions import mentions_of
from consumer.model import MarkFailed, MarkSent, Reason
from consumer.routes import Routes
from consumer.telemetry import Metrics
from consumer.upkeep import Upkeep
from tests.integration.guard.builders import claim, granted, key_of, mail, record
from tests.integration.guard.conftest import Open, Sql
from tests.integration.guard.private import privacy

DAY = 86400.0
ADA = mentions_of("ADA@example.org")
NEW_PASS = "UPDATE sweep SET blanked_since = blanked_since - interval '25 hours'"


@pytest.fixture
async def guard(open_guard: Open) -> Guard:
    return await open_guard(privacy=privacy(blank_after=7 * DAY))


@pytest.fixture
async def desk(database: str) -> AsyncIterator[Desk]:
    opened = await Desk.open(database, environment="test", privacy=privacy())
    yield opened
    await opened.close()


async def _sent(guard: Guard, name: str) -> None:
    lease = granted(await guard.claim(claim(name))).lease
    await guard.record(lease, MarkSent("file", f"id-{name}"), mail(name), record())


async def _recipients(sql: Sql) -> list[str]:
    rows = await sql("SELECT recipient FROM sent_message ORDER BY claimed_at, idempotency_key")
    return [row["recipient"] for row in rows]


async def _days(sql: Sql, days: int) -> None:
    await sql(
        f"UPDATE sent_message SET claimed_at = claimed_at - interval '{days} days',"
        f" sent_at = sent_at - interval '{days} days'"
    )


async def test_finished_mails_lose_their_recipient_after_a_while_and_are_still_found(
    guard: Guard, desk: Desk, sql: Sql
) -> None:
    """Law: the story stays, the address goes; the address finds the keys, old and new."""
    await _sent(guard, "old")
    lease = granted(await guard.claim(claim("failed"))).lease
    await guard.record(lease, MarkFailed("no", Reason.REJECTED), mail("failed"), record())
    await guard.claim(claim("open"))
    await _days(sql, 8)
    await _sent(guard, "young")
    assert await guard.tidy() == 2
    assert await guard.tidy() == 0
    assert sorted(await _recipients(sql)) == ["", "", "ada@example.org", "ada@example.org"]
    story = await desk.story(key_of("old"))
    assert story is not None
    assert (story.recipient, story.row.status) == ("", "sent")
    found = {one.key: one.status for one in await desk.of_address(ADA, 10)}
    names = {"old": "sent", "failed": "failed", "open": "sending", "young": "sent"}
    assert found == {key_of(name): status for name, status in names.items()}
    assert await desk.of_address(mentions_of("eve@example.org"), 10) == []


async def test_what_was_open_when_it_came_by_is_blanked_by_a_later_pass(
    guard: Guard, sql: Sql
) -> None:
    """A pass a day: who waits for seven days does not mind an eighth."""
    lease = granted(await guard.claim(claim("late"))).lease
    await guard.tidy()
    await guard.record(lease, MarkSent("file", "x"), mail("late"), record())
    await _days(sql, 8)
    assert await guard.tidy() == 0
    await sql(NEW_PASS)
    assert await guard.tidy() == 1


async def test_it_goes_on_where_it_was_and_past_the_first_blocks(
    guard: Guard, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blanking, "BLOCKS", 1)
    for n in range(60):
        await _sent(guard, f"mail-{n}")
    await _days(sql, 8)
    done = 0
    while some := await guard.tidy():
        done += some
    assert done == 60
    assert set(await _recipients(sql)) == {""}


async def test_blanking_is_hot(guard: Guard, sql: Sql) -> None:
    """Law: no index knows of it, so a page of the table is all that it writes."""
    for n in range(20):
        await _sent(guard, f"mail-{n}")
    await _days(sql, 8)
    await sql("VACUUM sent_message")
    await guard._hot._ending.run(_flush)
    before = await _updates(sql)
    assert await guard.tidy() == 20
    await guard._slow.run(_flush)
    after = await _updates(sql)
    assert after[0] - before[0] == after[1] - before[1] == 20


async def _flush(connection: Any) -> None:
    await connection.execute("SELECT pg_stat_force_next_flush()")


async def _updates(sql: Sql) -> tuple[int, int]:
    [row] = await sql(
        "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'sent_message'"
    )
    return row["n_tup_upd"], row["n_tup_hot_upd"]


async def test_a_row_that_is_claimed_again_has_its_recipient_again(guard: Guard, sql: Sql) -> None:
    at = record()
    lease = granted(await guard.claim(claim("one", at))).lease
    await guard.record(lease, MarkFailed("no", Reason.REJECTED), mail("one"), at)
    await _days(sql, 8)
    assert await guard.tidy() == 1
    row = await guard.look(key_of("one"), "order.receipt", at.coordinates)
    granted(await guard.claim(claim("one", at, takes=row)))
    assert await _recipients(sql) == ["ada@example.org"]


async def test_every_worker_sees_to_it(guard: Guard, sql: Sql) -> None:
    """Law: nobody has to ask; it is work beside the line, as pruning is."""
    await _sent(guard, "old")
    await _days(sql, 8)
    done, real = asyncio.Event(), guard.tidy

    async def tidy() -> int:
        count = await real()
        done.set()
        return count

    tasks = Upkeep(_only(tidy), Routes({}), Metrics(), ()).tasks(Heartbeat(60.0))
    await done.wait()
    for one in tasks:
        one.cancel()
    await asyncio.wait(tasks)
    assert await _recipients(sql) == [""]


def _only(tidy: Callable[[], Awaitable[int]]) -> Any:
    """A guard whose every other answer is long in coming."""
    never = asyncio.get_running_loop().create_future()
    slow = ("beat", "prune", "count_dead_letters", "shelf.keep")
    rest = MagicMock(**{f"{name}.return_value": never for name in slow})
    rest.tidy = tidy
    return rest


async def test_unasked_nothing_is_blanked(open_guard: Open, sql: Sql) -> None:
    guard = await open_guard(privacy=privacy())
    await _sent(guard, "old")
    await _days(sql, 300)
    assert await guard.tidy() == 0
    assert await _recipients(sql) == ["ada@example.org"]
