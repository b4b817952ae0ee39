"""What deploy/README.md tells operators to type does what it says, on a real Postgres."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from consumer.guard import Guard, LetterStatus, WrongEnvironmentError
from consumer.guard.desk import Desk
from consumer.guard.operators import Discarded, DiscardResult, NotDone, Turn
from consumer.guard.settling import Settled, SettleResult
from consumer.guard.verdict import Duplicate, judge
from consumer.model import (
    Bad,
    Claim,
    Evidence,
    MarkParked,
    MarkSent,
    MarkUnknown,
    News,
    Notice,
    OutcomeStatus,
    Reason,
    Row,
    Status,
)
from tests.integration.guard.builders import claim, granted, mail, record
from tests.integration.guard.conftest import Open, Sql

README = (Path(__file__).parents[3] / "deploy" / "README.md").read_text()


@pytest.fixture
async def desk(database: str) -> AsyncIterator[Desk]:
    opened = await Desk.open(database, environment="test")
    yield opened
    await opened.close()


def statement(title: str) -> str:
    """Return the statement under this comment, as one copies it."""
    [text] = re.findall(rf"(?ms)^ +-- {title}\n(.*?;)$", README)
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


FOUND = "sendonce settle KEY=ID"
GIVEN_UP = "sendonce discard KEY"


@pytest.mark.parametrize(
    ("what", "becomes", "letter"),
    [
        (FOUND, Status.SENT, LetterStatus.SETTLED),
        (GIVEN_UP, Status.DISCARDED, LetterStatus.DISCARDED),
    ],
)
async def test_an_unknown_outcome_is_settled(
    guard: Guard, desk: Desk, what: str, becomes: Status, letter: LetterStatus
) -> None:
    """Row and letters are closed, upstream is told, and the key stays taken."""
    item, other = await unknown(guard), await unknown(guard, "other")
    beside = record()
    await guard.park_too(beside, item.mail.type.name, await look(guard, item))
    conflict = Bad(Reason.CONFLICT, "x", item.mail.type.name, item.mail.key)
    await guard.park(record(), conflict)
    assert not isinstance(await settle(desk, what, item), NotDone)

    row = await look(guard, item)
    assert row.status is becomes
    assert isinstance(judge(row, mail(), record().coordinates, 4), Duplicate)
    assert [one.row.key for one in await guard.outcomes_due()] == [item.mail.key]
    story = await guard.show(item.mail.key)
    assert story is not None
    assert [one.status for one in story.letters] == [letter, letter, LetterStatus.OPEN]
    assert (await look(guard, other)).status is Status.UNKNOWN
    assert OutcomeStatus(becomes)


async def settle(desk: Desk, what: str, item: Claim) -> SettleResult | DiscardResult:
    assert what in README
    if what == FOUND:
        return await desk.settle(item.mail.key, "id-1", "by ada, now: it is in the log")
    return await desk.discard_key(item.mail.key, "by ada, now: no")


async def test_what_is_settled_by_hand_is_nothing_but_the_unknown(guard: Guard, desk: Desk) -> None:
    item = claim()
    for what in (FOUND, GIVEN_UP):
        assert isinstance(await settle(desk, what, item), NotDone), "there is no row"
    lease = granted(await guard.claim(item)).lease  # it is being sent at this moment
    for what in (FOUND, GIVEN_UP):
        assert isinstance(await settle(desk, what, item), NotDone)
    assert (await look(guard, item)).status is Status.SENDING
    await guard.record(lease, MarkSent("file", "another"), item.mail, item.record)
    for what in (FOUND, GIVEN_UP):
        assert isinstance(await settle(desk, what, item), NotDone)
    assert (await look(guard, item)).provider_message_id == "another"


async def test_what_a_person_found_is_signed_and_names_the_provider_of_the_doubt(
    guard: Guard, desk: Desk, sql: Sql
) -> None:
    """Also where it was given up before; a second time changes nothing."""
    item = await unknown(guard)
    await sql("UPDATE sent_message SET doubt_provider = 'relay'")
    await desk.discard_key(item.mail.key, "by ada, now: no")
    for _ in range(2):
        settled = await settle(desk, FOUND, item)
        assert isinstance(settled, Settled)
        assert settled.provider == "relay"
    story = await guard.show(item.mail.key)
    assert story is not None
    assert (story.settled_by, story.row.in_doubt) == (Evidence.PERSON, False)
    assert (story.row.provider, story.row.provider_message_id) == ("relay", "id-1")
    last = story.history[-1]
    assert (last.event, last.times) == ("sent", 1)
    assert last.detail == "by person: by ada, now: it is in the log"


@pytest.mark.parametrize(("attempts", "doubles"), [(1, 0), (2, 1)])
async def test_the_providers_own_word_stands_above_a_persons(
    open_guard: Open, desk: Desk, sql: Sql, attempts: int, doubles: int
) -> None:
    """Of the only request there was, another id is another spelling; of several, another mail."""
    alarms: list[str] = []
    guard = await open_guard(on_double=lambda row, _proof: alarms.append(row.key))
    item = await unknown(guard)
    await sql("UPDATE sent_message SET attempts = $1", attempts)
    await settle(desk, FOUND, item)
    notice = Notice(item.mail.key, "file", "ID-1", News.DELIVERED, None)
    for _ in range(2):
        assert await guard.hear(notice)
    story = await guard.show(item.mail.key)
    assert story is not None
    assert alarms == [item.mail.key] * doubles
    by, message_id = (Evidence.PERSON, "id-1") if doubles else (Evidence.WEBHOOK, "ID-1")
    assert (story.settled_by, story.row.provider_message_id) == (by, message_id)
    assert story.second_message_id == ("ID-1" if doubles else None)
    assert story.delivery == (None if doubles else News.DELIVERED)


async def test_letters_are_discarded_and_an_unknown_one_takes_its_row_along(
    guard: Guard, desk: Desk
) -> None:
    """Otherwise its row would stay open without a letter that shows it."""
    await guard.park(record(), Bad(Reason.MALFORMED, "x"))
    item = await unknown(guard)
    for letter in await guard.dead_letters():
        assert isinstance(await desk.discard_letter(letter.id, "by ada, now: no"), Discarded)
    left = {letter.reason: letter.status for letter in await guard.dead_letters()}
    assert left == dict.fromkeys((Reason.MALFORMED, Reason.UNKNOWN), LetterStatus.DISCARDED)
    assert (await look(guard, item)).status is Status.DISCARDED
    assert isinstance(await desk.discard_letter(10**9, "by ada, now: no"), NotDone)


async def test_what_waits_for_its_next_round_is_given_up_with_its_letter(
    guard: Guard, desk: Desk
) -> None:
    item = claim()
    lease = granted(await guard.claim(item)).lease
    await guard.record(lease, MarkParked("refused", 300), item.mail, item.record)
    [letter] = await guard.dead_letters()
    result = await desk.discard_letter(letter.id, "by ada, now: no")
    assert isinstance(result, Discarded)
    assert result.letters == (letter.id,)
    assert (await look(guard, item)).status is Status.DISCARDED
    assert [one.row.key for one in await guard.outcomes_due()] == [item.mail.key]
    assert await guard.take_due() == []


async def test_proof_is_taken_of_what_was_given_up(guard: Guard, desk: Desk) -> None:
    item = await unknown(guard)
    await desk.discard_key(item.mail.key, "by ada, now: no")
    await guard.prove(item.mail.key, MarkSent("file", "id-1", Evidence.WEBHOOK), "delivered")
    assert (await look(guard, item)).status is Status.SENT


async def test_a_letter_that_changed_since_it_was_read_is_not_made_due(
    guard: Guard, desk: Desk
) -> None:
    """And a call whose answer was lost finds what it wrote."""
    at = record()
    await guard.park(at, Bad(Reason.INVALID, "x"))
    [letter] = await guard.dead_letters()
    await guard.park(at, Bad(Reason.INVALID, "y"))
    assert await desk.make_due([Turn(letter, 0)], "by ada, 1: go") == set()
    [letter] = await guard.dead_letters()
    for _ in range(2):
        assert await desk.make_due([Turn(letter, 0)], "by ada, 2: go") == {letter.id}
    assert await desk.make_due([Turn(letter, 0)], "by eve, 3: go") == set()
    [due] = await guard.take_due()
    assert (due.replay, due.letter.note) == (True, "by ada, 2: go")


async def test_the_desk_refuses_the_database_of_another_environment(database: str) -> None:
    with pytest.raises(WrongEnvironmentError):
        await Desk.open(database, environment="production")


async def test_a_restored_dump_is_stamped_anew(open_guard: Open, sql: Sql) -> None:
    await sql("UPDATE stamp SET environment = 'production'")
    await sql(statement("stamp a restored dump"))
    with pytest.raises(WrongEnvironmentError, match="'staging'"):  # the fixture runs as `test`
        await open_guard()
    assert [row[0] for row in await sql("SELECT environment FROM stamp")] == ["staging"]
