"""Renewal by live flight, pruning that forgets nothing needed, heartbeats, and plans that last."""

from __future__ import annotations

import asyncio
import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

from consumer.guard import Guard, LetterStatus, Query, renew_interval
from consumer.guard.outcomes import SENT
from consumer.model import (
    Bad,
    Claim,
    MarkFailed,
    MarkSent,
    MarkUnknown,
    MarkWaiting,
    Reason,
    elapsed,
)
from tests.integration.guard.builders import claim, granted, record
from tests.integration.guard.conftest import Open, Sql

AGE = "UPDATE sent_message SET claimed_at = now() - interval '31 days'"


async def settled(guard: Guard, name: str, *, failed: bool = False) -> Claim:
    item = claim(name)
    lease = granted(await guard.claim(item)).lease
    ending = MarkFailed("no", Reason.REJECTED) if failed else MarkSent("file", name)
    await guard.record(lease, ending, item.mail, item.record)
    return item


async def test_only_held_leases_are_renewed(guard: Guard, sql: Sql) -> None:
    held = granted(await guard.claim(claim("held"))).lease
    left = granted(await guard.claim(claim("left"))).lease
    guard.hold(held)
    for lease in (held, left):
        lease.ends_at -= renew_interval(30.0)
    await sql("UPDATE sent_message SET lease_until = now() + interval '20 seconds'")
    before, asked = left.ends_at, elapsed()
    await guard._leases.renew()
    assert held.ends_at >= asked + 30.0
    assert left.ends_at == before
    rows = await sql(
        "SELECT idempotency_key FROM sent_message WHERE lease_until > now() + interval '25 seconds'"
    )
    assert [row[0] for row in rows] == [held.key]


async def test_a_fresh_lease_costs_no_statement(guard: Guard) -> None:
    lease = granted(await guard.claim(claim())).lease
    guard.hold(lease)
    ends_at = lease.ends_at
    await guard._leases.renew()
    assert lease.ends_at == ends_at


async def test_a_lease_that_is_not_ours_any_more_ends_at_once(guard: Guard, sql: Sql) -> None:
    lease = granted(await guard.claim(claim())).lease
    guard.hold(lease)
    lease.ends_at -= renew_interval(30.0)
    await sql("UPDATE sent_message SET epoch = epoch + 1")
    await guard._leases.renew()
    assert lease.ends_at == 0.0


async def test_what_was_let_go_runs_out(guard: Guard) -> None:
    lease = granted(await guard.claim(claim())).lease
    guard.hold(lease)
    guard.let_go(lease)
    lease.ends_at -= renew_interval(30.0)
    ends_at = lease.ends_at
    await guard._leases.renew()
    assert lease.ends_at == ends_at


async def test_renewal_goes_on_until_the_guard_is_closed(open_guard: Open) -> None:
    guard = await open_guard(lease=0.6)
    lease = granted(await guard.claim(claim())).lease
    guard.hold(lease)
    renewing = asyncio.create_task(guard.renew_forever())
    first = lease.ends_at
    await asyncio.sleep(first + 0.3 - elapsed())  # past the life it began with
    assert lease.ends_at > elapsed()
    row = await guard.look(lease.key, "order.receipt", record().coordinates)
    assert row is not None
    assert row.lease_live
    await guard.close()
    await asyncio.wait_for(renewing, 5)


async def test_workers_are_counted(open_guard: Open, sql: Sql) -> None:
    one, two = await open_guard(), await open_guard()
    assert await one.beat() == 1
    assert await two.beat() == 2
    assert await one.beat() == 2
    await sql("UPDATE worker SET seen_at = now() - interval '20 seconds'")
    assert await one.beat() == 1
    await two.beat()
    await one.leave()
    assert await two.beat() == 1


async def test_pruning_spares_what_is_open_or_named_by_a_letter(guard: Guard, sql: Sql) -> None:
    await settled(guard, "old")
    await settled(guard, "rejected", failed=True)  # its letter is open
    seen = await settled(guard, "seen")  # a letter without a key names its coordinates
    await guard.park(seen.record, Bad(Reason.MALFORMED, "by another release"))
    for name, ending in (("waiting", MarkWaiting("503")), ("unknown", MarkUnknown("x", "file"))):
        item = claim(name)
        await guard.record(granted(await guard.claim(item)).lease, ending, item.mail, item.record)
    granted(await guard.claim(claim("sending")))
    await sql(AGE)
    await settled(guard, "young")
    assert await guard.prune() == 1
    left = {row[0] for row in await sql("SELECT status FROM sent_message")}
    assert left == {"failed", "sent", "waiting", "unknown", "sending"}
    assert await guard.prune() == 0
    assert (await sql("SELECT count(*) FROM sent_message"))[0][0] == 6


async def test_pruning_goes_in_batches(guard: Guard, sql: Sql) -> None:
    await asyncio.gather(*(settled(guard, f"n-{n}") for n in range(25)))
    await sql(AGE)
    assert [await guard.prune(10) for _ in range(4)] == [10, 10, 5, 0]


async def test_closed_letters_go_after_retention_and_open_ones_stay(guard: Guard, sql: Sql) -> None:
    """`parked` and `open` are somebody's work; the other three are history, for `retention`."""
    for status in LetterStatus:
        for age in ("29 days", "31 days"):
            at = record()
            await guard.park(at, Bad(Reason.MALFORMED, age))
            await sql(
                'UPDATE dead_letter SET status = $1, last_failed_at = now() - $2::text::interval, '
                'next_check_at = now() WHERE "offset" = $3',
                str(status), age, at.offset,
            )  # fmt: skip
    assert await guard.prune() == 3
    assert await guard.prune() == 0
    left = {tuple(row) for row in await sql("SELECT status, detail FROM dead_letter")}
    young = {(str(status), "29 days") for status in LetterStatus}
    assert left == young | {("open", "31 days"), ("parked", "31 days")}


async def test_letters_go_in_small_batches(guard: Guard, sql: Sql) -> None:
    for n in range(5):
        await guard.park(record(), Bad(Reason.MALFORMED, str(n)))
    await sql("UPDATE dead_letter SET status = 'settled', last_failed_at = now() - '1 y'::interval")
    assert [await guard.prune(20) for _ in range(4)] == [2, 2, 1, 0]


async def test_a_letter_that_fails_again_is_young_again(guard: Guard, sql: Sql) -> None:
    at = record()
    await guard.park(at, Bad(Reason.MALFORMED, "first"))
    await sql(
        "UPDATE dead_letter SET status = 'discarded', last_failed_at = now() - '1 y'::interval"
    )
    await guard.park(at, Bad(Reason.MALFORMED, "again"))
    assert await guard.prune() == 0


async def test_what_upstream_has_not_heard_of_is_kept(guard: Guard, sql: Sql) -> None:
    """An outcome that is due is found through its letter, so both wait until it was told."""
    item = claim("late")
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkUnknown("reset", "file"), item.mail, item.record)
    await guard.record(lease, MarkSent("file", "m-1"), item.mail, item.record)
    await sql(AGE)
    await sql("UPDATE dead_letter SET last_failed_at = now() - interval '31 days'")
    assert await guard.prune() == 0
    (settled_late,) = await guard.outcomes_due()
    await guard.outcome_told(settled_late.row)
    assert await guard.prune() == 2


async def test_outcomes_are_hot(guard: Guard, sql: Sql) -> None:
    """No index on what an outcome changes, and room on each page: no outcome writes an index."""
    await asyncio.gather(*(settled(guard, f"n-{n}") for n in range(600)))
    await guard._hot._ending.run(lambda c: c.execute("SELECT pg_stat_force_next_flush()"))
    (row,) = await sql(
        "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'sent_message'"
    )
    assert row["n_tup_upd"] == 600
    assert row["n_tup_hot_upd"] == 600


async def test_plans_made_on_an_empty_table_use_the_index(guard: Guard) -> None:
    """The trap: generic after five runs, planned while the table was empty, a scan for ever."""
    for n in range(8):
        await settled(guard, f"n-{n}")
    plan = await guard._hot._ending.run(_explain_generic)
    text = "\n".join(line[0] for line in plan)
    assert "Seq Scan on sent_message" not in text, text
    assert "Seq Scan on dead_letter" not in text, text
    assert "dead_letter_status" not in text, text
    assert {"sent_message_pkey", "dead_letter_pkey", "dead_letter_key"} <= set(text.split()), text


async def _explain_generic(connection: Any) -> list[Any]:
    await connection.execute("SET plan_cache_mode = force_generic_plan")
    await connection.execute(f"PREPARE p AS {SENT}")
    return list(await connection.fetch("EXPLAIN EXECUTE p ('{a}', '{1}', '{t}', '{p}', '{i}')"))


async def test_letters_are_listed_newest_first_page_by_page(guard: Guard, sql: Sql) -> None:
    for n in range(5):
        reason = Reason.INVALID if n % 2 else Reason.MALFORMED
        await guard.park(record(), Bad(reason, str(n), event_type=f"t{n}"))
    first = await guard.dead_letters(Query(limit=2))
    second = await guard.dead_letters(Query(limit=2, before=first[-1].id))
    assert [one.detail for one in itertools.chain(first, second)] == ["4", "3", "2", "1"]
    some = await guard.dead_letters(
        Query(statuses=[LetterStatus.OPEN], reasons=[Reason.INVALID], mail_type="t3")
    )
    assert [one.detail for one in some] == ["3"]
    assert await guard.dead_letters(Query(topic="elsewhere")) == []
    await sql("UPDATE dead_letter SET status = 'settled' WHERE detail = '4'")
    counts = await guard.count_dead_letters()
    assert counts == {
        (LetterStatus.OPEN, Reason.MALFORMED): 2,
        (LetterStatus.OPEN, Reason.INVALID): 2,
    }, "closed letters do not wait"


async def test_show_tells_all_under_a_key(guard: Guard) -> None:
    item = await settled(guard, "shown", failed=True)
    story = await guard.show(item.mail.key)
    assert story is not None
    assert (story.recipient, story.row.error) == ("ada@example.org", "rejected: no")
    assert [letter.reason for letter in story.letters] == [Reason.REJECTED]
    assert datetime.now(UTC) - story.claimed_at < timedelta(minutes=5)
    assert await guard.show("0" * 48) is None
