"""Rows of another sender's mails: what becomes of them, and of records with their keys."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from consumer.guard import Duplicate, Guard, judge
from consumer.guard.desk import Desk
from consumer.guard.imports import Past, Stands
from consumer.model import IMPORTED, Found, MarkFailed, MarkSent, Status, Transition
from tests.integration.guard.builders import claim, granted, key_of, mail, record
from tests.integration.guard.conftest import Sql

SENT_AT = datetime(2026, 1, 1, 12, tzinfo=UTC)
NEW = Stands(Status.SENT, imported=True, new=True)
KNOWN = Stands(Status.SENT, imported=True)


def past(name: str, message_id: str = "old-1") -> Past:
    address = "ada@example.org"
    return Past(key_of(name), "order.receipt", address, "old", message_id, SENT_AT)


@pytest.fixture
async def desk(database: str) -> AsyncIterator[Desk]:
    made = await Desk.open(database, environment="test")
    yield made
    await made.close()


@pytest.mark.parametrize("fingerprint", ["", "f1"])
@pytest.mark.parametrize("digest", ["d1", "", IMPORTED[:-1]])
async def test_a_later_record_is_a_duplicate_whatever_it_says(
    desk: Desk, guard: Guard, fingerprint: str, digest: str
) -> None:
    """Law: an imported row never conflicts; its stored outcome is the record's too."""
    await desk.bring_in([past("one")], "t1")
    later, read = record(), mail("one", fingerprint=fingerprint, digest=digest)
    row = await guard.look(read.key, read.type.name, later.coordinates)
    assert row is not None
    assert isinstance(judge(row, read, later.coordinates, 4), Duplicate)
    assert (row.status, row.provider, row.provider_message_id) == (Status.SENT, "old", "old-1")
    assert row.sent_at == SENT_AT
    assert row.coordinates is None
    assert isinstance(await guard.claim(claim("one", later)), Found)


async def test_a_second_run_changes_nothing(desk: Desk, sql: Sql) -> None:
    mails = [past("one"), past("two")]
    assert set((await desk.bring_in(mails, "t1")).values()) == {NEW}
    before = await sql("SELECT * FROM sent_message ORDER BY idempotency_key")
    again = [past("one", "another id"), past("two")]
    assert set((await desk.bring_in(again, "t2")).values()) == {KNOWN}
    assert await sql("SELECT * FROM sent_message ORDER BY idempotency_key") == before


async def test_a_batch_whose_answer_was_lost_counts_as_its_first_run(desk: Desk) -> None:
    await desk.bring_in([past("one")], "t1")
    assert await desk.bring_in([past("one")], "t1") == {key_of("one"): NEW}


async def test_one_key_twice_in_a_batch_is_one_row(desk: Desk, sql: Sql) -> None:
    await desk.bring_in([past("one"), past("one", "old-2")], "t1")
    [row] = await sql("SELECT provider_message_id FROM sent_message")
    assert row["provider_message_id"] in {"old-1", "old-2"}


async def test_what_the_service_claimed_is_left_alone_and_told(
    desk: Desk, guard: Guard, sql: Sql
) -> None:
    """Law: in whatever state; also what certainly was not sent stays the service's."""
    endings: dict[str, Transition | None] = {
        "sent": MarkSent("file", "x"),
        "failed": MarkFailed("no"),
        "sending": None,
    }
    for name, ending in endings.items():
        first = record()
        lease = granted(await guard.claim(claim(name, first))).lease
        if ending is not None:
            await guard.record(lease, ending, mail(name), first)
    before = await sql("SELECT * FROM sent_message ORDER BY idempotency_key")
    found = await desk.bring_in([past(name) for name in endings], "t1")
    assert found == {key_of(name): Stands(Status(name), imported=False) for name in endings}
    assert await desk.stands([key_of(name) for name in endings]) == found
    assert await sql("SELECT * FROM sent_message ORDER BY idempotency_key") == before


async def test_of_an_import_and_a_claim_at_once_exactly_one_has_the_key(
    desk: Desk, guard: Guard, sql: Sql
) -> None:
    """Law: the unique key decides; whoever comes second is told what stands."""
    names = [f"n{n}" for n in range(200)]
    importing = asyncio.create_task(desk.bring_in([past(name) for name in names], "t1"))
    claims = await asyncio.gather(*(guard.claim(claim(name)) for name in reversed(names)))
    imported = await importing
    for name, result in zip(reversed(names), claims, strict=True):
        assert isinstance(result, Found) == imported[key_of(name)].new, name
    assert len(await sql("SELECT 1 FROM sent_message")) == len(names)


async def test_it_is_remembered_for_a_whole_retention_from_the_import_on(
    desk: Desk, guard: Guard, sql: Sql
) -> None:
    """However long ago it was sent: its events may still come for as long as they may be old."""
    await desk.bring_in([past("one")], "t1")
    [row] = await sql("SELECT claimed_at, now() AS now FROM sent_message")
    assert row["now"] - row["claimed_at"] < timedelta(minutes=1)
    assert await guard.prune() == 0
    await sql("UPDATE sent_message SET claimed_at = now() - interval '31 days'")
    assert await guard.prune() == 1
