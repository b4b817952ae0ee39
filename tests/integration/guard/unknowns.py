"""An unknown row, and what tests want to know of it."""

from __future__ import annotations

from typing import Any

from consumer.guard import Due, Guard, Story
from consumer.model import Claim, Lease, MarkUnknown, Row
from tests.integration.guard.builders import claim, granted
from tests.integration.guard.conftest import Sql

KIND = "order.receipt"
LOST = MarkUnknown("reset", "file")


async def unknown(guard: Guard, name: str = "one") -> tuple[Claim, Lease, Row]:
    item = claim(name)
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, LOST, item.mail, item.record)
    return item, lease, await row_of(guard, item)


async def row_of(guard: Guard, item: Claim) -> Row:
    row = await guard.look(item.mail.key, KIND, item.record.coordinates)
    assert row is not None
    return row


async def story_of(guard: Guard, item: Claim) -> Story:
    story = await guard.show(item.mail.key)
    assert story is not None
    return story


async def due_of(guard: Guard, sql: Sql) -> Due:
    await sql("UPDATE dead_letter SET next_check_at = now() WHERE status = 'parked'")
    (due,) = await guard.take_due()
    return due


def again(item: Claim, row: Row, **more: Any) -> Claim:
    return claim("one", item.record, takes=row, **more)
