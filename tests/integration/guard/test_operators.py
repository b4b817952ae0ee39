"""What deploy/README.md tells operators to type does what it says, on a real Postgres."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from consumer.guard import Guard, LetterStatus, WrongEnvironment
from consumer.guard.verdict import Duplicate, judge
from consumer.model import (
    Bad,
    Claim,
    MarkUnknown,
    OutcomeStatus,
    Reason,
    Row,
    Status,
)
from tests.integration.guard.builders import claim, granted, mail, record
from tests.integration.guard.conftest import Open, Sql

README = (Path(__file__).parents[3] / "deploy" / "README.md").read_text()


def statement(title: str) -> str:
    """Return the statement under this comment, as one copies it."""
    [text] = re.findall(rf"(?ms)^    -- {title}\n(.*?;)$", README)
    return str(text)


async def unknown(guard: Guard, name: str = "one") -> Claim:
    item = claim(name)
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkUnknown("reset", "file"), item.mail, item.record)
    return item


async def look(guard: Guard, item: Claim) -> Row:
    row = await guard.look(item.mail.key, item.mail.type.name, item.record.coordinates)
    assert row is not None
    return row


@pytest.mark.parametrize(
    ("title", "becomes", "letter"),
    [
        ("an unknown mail was found at the provider", Status.SENT, LetterStatus.SETTLED),
        ("an unknown mail is given up", Status.DISCARDED, LetterStatus.DISCARDED),
    ],
)
async def test_an_unknown_outcome_is_settled(
    guard: Guard, sql: Sql, title: str, becomes: Status, letter: LetterStatus
) -> None:
    """Row and letters are closed, upstream is told, and the key stays taken."""
    item, other = await unknown(guard), await unknown(guard, "other")
    beside = record()
    await guard.park_too(beside, item.mail.type.name, await look(guard, item))
    conflict = Bad(Reason.CONFLICT, "x", item.mail.type.name, item.mail.key)
    await guard.park(record(), conflict)
    await sql(statement(title).replace("KEY", item.mail.key))

    row = await look(guard, item)
    assert row.status is becomes
    assert isinstance(judge(row, mail(), record().coordinates, 4), Duplicate)
    assert [one.row.key for one in await guard.outcomes_due()] == [item.mail.key]
    story = await guard.show(item.mail.key)
    assert story is not None
    assert [one.status for one in story.letters] == [letter, letter, LetterStatus.OPEN]
    assert (await look(guard, other)).status is Status.UNKNOWN
    assert OutcomeStatus(becomes)


async def test_what_is_settled_by_hand_is_nothing_but_the_unknown(guard: Guard, sql: Sql) -> None:
    item = claim()
    await guard.claim(item)  # it is being sent at this moment
    for title in ("an unknown mail was found at the provider", "an unknown mail is given up"):
        await sql(statement(title).replace("KEY", item.mail.key))
    assert (await look(guard, item)).status is Status.SENDING


async def test_an_open_letter_is_closed(guard: Guard, sql: Sql) -> None:
    """An `unknown` one is not: its row would stay open without a letter that shows it."""
    await guard.park(record(), Bad(Reason.MALFORMED, "x"))
    await unknown(guard)
    for letter in await guard.dead_letters():
        await sql(statement("close an open dead letter").replace("42", str(letter.id)))
    left = {letter.reason: letter.status for letter in await guard.dead_letters()}
    assert left == {Reason.MALFORMED: LetterStatus.DISCARDED, Reason.UNKNOWN: LetterStatus.PARKED}


async def test_a_restored_dump_is_stamped_anew(open_guard: Open, sql: Sql) -> None:
    await sql("UPDATE stamp SET environment = 'production'")
    await sql(statement("stamp a restored dump"))
    with pytest.raises(WrongEnvironment, match="'staging'"):  # the fixture runs as `test`
        await open_guard()
    assert [row[0] for row in await sql("SELECT environment FROM stamp")] == ["staging"]
