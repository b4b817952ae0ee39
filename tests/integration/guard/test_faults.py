"""Postgres goes away in every way it can: nothing is lost, nothing is granted twice."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest
from asyncpg import InterfaceError
from structlog.testing import capture_logs

from consumer.guard import Guard, GuardClosedError, migrate
from consumer.model import (
    Granted,
    MarkFailed,
    MarkSent,
    MarkUnknown,
    MarkWaiting,
    News,
    Notice,
    Reason,
    Recorded,
    Transition,
    elapsed,
)
from tests.integration.guard.builders import claim, granted
from tests.integration.guard.conftest import Open, Sql
from tests.parts.postgres import Postgres, start_postgres
from tests.parts.proxy import Mode, Proxy, start_proxy


@pytest.fixture
async def proxy(database: str) -> AsyncIterator[Proxy]:
    target = urlsplit(database)
    async with start_proxy(target.hostname or "127.0.0.1", target.port or 5432) as running:
        yield running


@pytest.fixture
async def far(open_guard: Open, database: str, proxy: Proxy) -> Guard:
    """Return a guard that reaches Postgres through the proxy, its statements prepared already."""
    parts = urlsplit(database)
    user = parts.netloc.rpartition("@")[0]
    dsn = urlunsplit(parts._replace(netloc=f"{user}@127.0.0.1:{proxy.port}"))
    guard = await open_guard(dsn)
    warm = claim("warm")
    lease = granted(await guard.claim(warm)).lease
    await guard.claim(claim("warm"))
    await guard.record(lease, MarkWaiting("503"), warm.mail, warm.record)
    await guard.next_attempt(lease, "file", "account", b"h" * 32)
    await guard.record(lease, MarkSent("file", "id-warm"), warm.mail, warm.record)
    return guard


def noticed(guard: Guard, monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Return an event that is set once the guard knows that Postgres is away."""
    event = asyncio.Event()
    failed = guard._connections.weather.failed

    def notice(lane: str, error: BaseException) -> None:
        failed(lane, error)
        event.set()

    monkeypatch.setattr(guard._connections.weather, "failed", notice)
    return event


async def lose_the_answer(proxy: Proxy) -> None:
    """Let the statement arrive and be committed, swallow its answer, cut the line, mend it."""
    await asyncio.wait_for(proxy.withheld.wait(), 10)
    proxy.mode = Mode.PASS
    proxy.reset()


async def test_a_claim_whose_commit_answer_was_lost_is_ours(far: Guard, proxy: Proxy) -> None:
    proxy.mode = Mode.WITHHOLD
    before = elapsed()
    asked = asyncio.create_task(far.claim(claim()))
    await asyncio.sleep(0)
    after = elapsed() + 0.5
    await lose_the_answer(proxy)
    lease = granted(await asked).lease
    assert (lease.epoch, lease.attempts) == (1, 1)
    assert before <= lease.ends_at - 30.0 <= after, "counted from before the first try"


async def test_a_takeover_whose_commit_answer_was_lost_is_ours(far: Guard, proxy: Proxy) -> None:
    warm, item = claim("warm-takeover"), claim()
    for one in (warm, item):
        lease = granted(await far.claim(one)).lease
        await far.record(lease, MarkFailed("no"), one.mail, one.record)
    rows = [
        await far.look(one.mail.key, "order.receipt", one.record.coordinates)
        for one in (warm, item)
    ]
    granted(await far.claim(claim("warm-takeover", warm.record, takes=rows[0])))
    proxy.mode = Mode.WITHHOLD
    asked = asyncio.create_task(far.claim(claim(at=item.record, takes=rows[1])))
    await lose_the_answer(proxy)
    lease = granted(await asked).lease
    assert (lease.epoch, lease.attempts) == (2, 1)


@pytest.mark.parametrize(
    "transition",
    [
        MarkSent("file", "id-1"),
        MarkWaiting("429", give_back=True),
        MarkFailed("422", Reason.REJECTED),
        MarkUnknown("reset", "file"),
    ],
)
async def test_an_outcome_whose_commit_answer_was_lost_is_recorded(
    far: Guard, proxy: Proxy, sql: Sql, transition: Transition
) -> None:
    item = claim()
    lease = granted(await far.claim(item)).lease
    proxy.mode = Mode.WITHHOLD
    asked = asyncio.create_task(far.record(lease, transition, item.mail, item.record))
    await lose_the_answer(proxy)
    assert isinstance(await asked, Recorded)
    (row,) = await sql("SELECT attempts FROM sent_message WHERE idempotency_key = $1", lease.key)
    assert row["attempts"] == lease.attempts == (0 if isinstance(transition, MarkWaiting) else 1)


async def test_an_attempt_whose_commit_answer_was_lost_counts_once(
    far: Guard, proxy: Proxy, sql: Sql
) -> None:
    item = claim()
    lease = granted(await far.claim(item)).lease
    await far.record(lease, MarkWaiting("503"), item.mail, item.record)
    proxy.mode = Mode.WITHHOLD
    asked = asyncio.create_task(far.next_attempt(lease, "file", "account", b"h" * 32))
    await lose_the_answer(proxy)
    assert await asked is lease
    (row,) = await sql("SELECT attempts FROM sent_message WHERE idempotency_key = $1", lease.key)
    assert row["attempts"] == lease.attempts == 2


async def test_refused_connections_are_waited_out_with_one_line_of_log(
    far: Guard, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    down = noticed(far, monkeypatch)
    proxy.mode = Mode.REFUSE
    proxy.reset()
    with capture_logs() as logs:
        asked = asyncio.gather(*(far.claim(claim(f"n-{n}")) for n in range(5)))
        for _ in range(3):
            await asyncio.wait_for(down.wait(), 10)
            down.clear()
        proxy.mode = Mode.PASS
        assert all(isinstance(result, Granted) for result in await asked)
    assert [line["event"] for line in logs] == ["postgres unreachable", "postgres is back"]


async def test_ended_connections_are_replaced(
    guard: Guard, postgres: Postgres, database: str
) -> None:
    for n in range(3):
        granted(await guard.claim(claim(f"n-{n}")))
        await postgres.disconnect(database)


async def test_a_demoted_primary_is_left_and_waited_for(
    guard: Guard, postgres: Postgres, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """25006 on a connection that stays open: only a new one can find the new primary."""
    name = urlsplit(database).path.lstrip("/")
    switch = f'ALTER DATABASE "{name}" SET default_transaction_read_only'
    granted(await guard.claim(claim("before")))
    down = noticed(guard, monkeypatch)
    await guard._hot._claiming.run(lambda c: c.execute("SET default_transaction_read_only = on"))
    await postgres.execute(postgres.dsn, f"{switch} = on")
    asked = asyncio.create_task(guard.claim(claim("after")))
    await asyncio.wait_for(down.wait(), 10)
    assert not asked.done()
    await postgres.execute(postgres.dsn, f"{switch} = off")
    granted(await asked)


async def test_a_blocked_claim_is_rolled_back_and_repeated(
    open_guard: Open, guard: Guard, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """55P03: the server gave up before the client did, so it certainly did nothing."""
    monkeypatch.setattr(
        "consumer.guard.queues.TIMEOUTS", {"lock_timeout": "100ms", "statement_timeout": "1s"}
    )
    impatient = await open_guard()
    down = noticed(impatient, monkeypatch)
    other = await open_guard()
    blocker = other._hot._claiming

    async def block(connection: Any) -> None:
        async with connection.transaction():
            await connection.execute("LOCK TABLE sent_message")
            asking = asyncio.create_task(impatient.claim(claim()))
            await asyncio.wait_for(down.wait(), 10)
            assert not asking.done()
            pending.append(asking)

    pending: list[asyncio.Task[object]] = []
    await blocker.run(block)
    granted(await pending[0])


async def test_closing_ends_the_waiting(
    far: Guard, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    down = noticed(far, monkeypatch)
    proxy.mode = Mode.REFUSE
    proxy.reset()
    asked = [asyncio.create_task(far.claim(claim(f"n-{n}"))) for n in range(3)]
    await asyncio.wait_for(down.wait(), 10)
    await asyncio.wait_for(far.close(), 5)
    answers = await asyncio.gather(*asked, return_exceptions=True)
    assert all(isinstance(answer, GuardClosedError) for answer in answers)
    with pytest.raises(GuardClosedError):
        await far.claim(claim())


async def test_behind_pgbouncer_nothing_leans_on_the_session(open_guard: Open, sql: Sql) -> None:
    """No prepared statements, no start-up settings, and yet the server-side timeouts hold."""
    guard = await open_guard(pgbouncer=True)
    item = claim()
    lease = granted(await guard.claim(item)).lease
    await guard.claim(claim())
    await guard.record(lease, MarkUnknown("reset", "file"), item.mail, item.record)
    prepared, timeout, scan = await guard._hot._claiming.run(
        lambda c: c.fetchrow(
            "SELECT (SELECT count(*) FROM pg_prepared_statements WHERE name <> ''),"
            " current_setting('statement_timeout'), current_setting('enable_seqscan')"
        )
    )
    assert (prepared, timeout, scan) == (0, "6s", "off")
    assert (await guard._hot._claiming.run(lambda c: c.fetchval("SHOW statement_timeout"))) == "6s"
    row = await guard.look(item.mail.key, item.mail.type.name, item.record.coordinates)
    assert row is not None
    assert await guard.stale(10) == []
    assert await guard.put_off(row, 0.0, "asked", "not found yet")
    assert await guard.hear(Notice(item.mail.key, "file", "id-1", News.BOUNCED))
    assert len(await guard.news_due()) == len(await guard.outcomes_due()) == 1


async def test_killed_under_load_and_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Kill -9: every claim is granted exactly once, every outcome stands."""
    with start_postgres(fsync=False, own=True) as server:
        dsn = await server.database()
        await migrate(dsn, environment="test")
        guard = await Guard.open(dsn, owner="w", lease=30.0, retention=86400.0, environment="test")
        down = noticed(guard, monkeypatch)
        first, enough = asyncio.Event(), asyncio.Event()
        numbers = itertools.count()

        async def fly() -> None:
            while not enough.is_set():
                n = next(numbers)
                item = claim(f"killed-{n}")
                lease = granted(await guard.claim(item)).lease
                proof = MarkSent("file", f"id-{n}")
                assert isinstance(
                    await guard.record(lease, proof, item.mail, item.record), Recorded
                )
                first.set()

        flights = [asyncio.create_task(fly()) for _ in range(64)]
        await first.wait()
        await asyncio.to_thread(server.kill)
        await asyncio.wait_for(down.wait(), 30)
        await asyncio.to_thread(server.start)
        enough.set()
        await asyncio.gather(*flights)
        (row,) = await server.execute(
            dsn, "SELECT count(*) AS n, max(epoch) AS epoch FROM sent_message WHERE status = 'sent'"
        )
        await guard.close()
    assert (row["n"], row["epoch"]) == (next(numbers), 1)


async def test_what_the_client_itself_objects_to_is_not_repeated_for_ever(guard: Guard) -> None:
    with pytest.raises(InterfaceError):
        await guard._hot._claiming.run(lambda c: c.fetch("SELECT $1::int"))
    granted(await guard.claim(claim()))
