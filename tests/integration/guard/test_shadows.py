"""Notes of a service in shadow mode: each record one, the last judgement stands."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from consumer.guard import Guard, WrongEnvironmentError
from consumer.guard.desk import Desk
from consumer.guard.shadows import START, Note, Onlooker, Would
from consumer.model import Coordinates
from tests.integration.guard.builders import claim, key_of, record
from tests.integration.guard.conftest import Sql

MOMENT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def _note(offset: int, would: Would = Would.SEND, topic: str = "orders") -> Note:
    at = Coordinates(topic, 0, offset, 1_700_000_000_000)
    return Note(at, would, "postmark", "order.receipt", key_of(f"{offset}"), "f1", "d1", MOMENT)


@pytest.fixture
async def onlooker(database: str) -> AsyncIterator[Onlooker]:
    made = await Onlooker.open(database, environment="test", on_batch=lambda *_: None)
    yield made
    await made.close()


@pytest.fixture
async def desk(database: str) -> AsyncIterator[Desk]:
    made = await Desk.open(database, environment="test")
    yield made
    await made.close()


async def test_notes_are_read_back_in_pages(onlooker: Onlooker, desk: Desk) -> None:
    notes = [_note(n) for n in range(20)] + [
        Note(_note(1, topic="p").at, Would.SKIPPED, "tombstone")
    ]
    await asyncio.gather(*map(onlooker.note, notes))
    read: list[Note] = []
    while page := await desk.notes(read[-1].at if read else START, 8):
        read += page
    assert read == notes
    assert await desk.clear_notes() == 21
    assert await desk.clear_notes() == 0
    assert await desk.notes(START, 8) == []


async def test_a_record_that_comes_again_has_one_note(onlooker: Onlooker, desk: Desk) -> None:
    """Law: the last judgement stands, also where both come in one batch."""
    first, last = _note(1), _note(1, Would.DUPLICATE)
    await onlooker.note(first)
    assert await desk.notes(START, 8) == [first]
    await asyncio.gather(onlooker.note(_note(2)), *map(onlooker.note, (first, last)))
    assert await desk.notes(START, 8) == [last, _note(2)]


async def test_a_note_holds_no_address_and_nothing_that_postgres_refuses(
    onlooker: Onlooker, desk: Desk
) -> None:
    """Law: whatever a producer calls its events, the shadow goes on."""
    strange = replace(_note(1), mail_type="a\0b", detail="unknown_type: ada@example.org \ud800")
    await onlooker.note(strange)
    [read] = await desk.notes(START, 8)
    assert read.mail_type == "a\N{REPLACEMENT CHARACTER}b"
    assert read.detail == "unknown_type: (address) ?"


async def test_an_onlooker_sees_the_guard_and_changes_nothing_of_it(
    onlooker: Onlooker, guard: Guard, sql: Sql
) -> None:
    at = record()
    await guard.claim(claim("one", at))
    before = await sql("SELECT * FROM sent_message")
    row = await onlooker.look(key_of("one"), "order.receipt", at.coordinates)
    assert row is not None
    assert row.key == key_of("one")
    assert await onlooker.look(key_of("two"), "order.receipt", record().coordinates) is None
    await onlooker.note(replace(_note(1), at=at.coordinates))
    assert await sql("SELECT * FROM sent_message") == before
    assert await sql("SELECT * FROM worker") == []


async def test_notes_are_deleted_after_a_retention(
    onlooker: Onlooker, desk: Desk, sql: Sql
) -> None:
    await asyncio.gather(*(onlooker.note(_note(n)) for n in range(2)))
    await sql("UPDATE shadow SET noted_at = now() - interval '2 days' WHERE \"offset\" = 0")
    await onlooker.prune(86_400.0)
    assert await desk.notes(START, 8) == [_note(1)]


async def test_a_shadow_of_another_environment_is_refused(database: str) -> None:
    with pytest.raises(WrongEnvironmentError):
        await Onlooker.open(database, environment="production", on_batch=lambda *_: None)
