"""One more mail on purpose: exactly one, whoever clicks twice, and only duplicates after it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from consumer.guard import LetterStatus
from consumer.guard.desk import Desk
from consumer.guard.operators import Discarded, NotDone
from consumer.guard.resends import Resend, Resent
from consumer.intake.hold import Hold
from consumer.model import (
    Claim,
    Evidence,
    Granted,
    Lease,
    MarkFailed,
    MarkSent,
    MarkUnknown,
    MarkWaiting,
    News,
    Notice,
    OutcomeStatus,
    Reason,
    Record,
    Recorded,
    Row,
    Status,
)
from consumer.resending import Proposal, propose
from tests.whole.commands import answer, sendonce
from tests.whole.operating import Office, again, office, record

Before = Callable[[Office, Record], Awaitable[str]]
NOTE = "by ada, now: it never came"


@pytest.fixture
async def desk(database: str, tmp_path: Path) -> AsyncIterator[Office]:
    async with office(database, tmp_path) as made:
        yield made


async def lost(at: Office, first: Record) -> str:
    """Its answer never came, and nobody can be asked: a person has to decide."""
    lease = await at.claim(first, account="another")
    await at.guard.record(lease, MarkUnknown("reset", "file"), at.mail(first), first)
    await at.guard.put_off(await at.row(lease.key), None, "open", "nothing is left to ask")
    return lease.key


async def refused(at: Office, first: Record) -> str:
    lease = await at.claim(first)
    failed = MarkFailed("file 1, too large", Reason.REJECTED)
    await at.guard.record(lease, failed, at.mail(first), first)
    return lease.key


async def sent(at: Office, first: Record) -> str:
    await at.line.handle(first, Hold())
    return at.mail(first).key


def wish(at: Office, row: Row, of: Record, token: str = "t") -> Resend:
    proposal = propose(at.making, row, of)
    assert isinstance(proposal, Proposal), proposal
    return Resend(row, proposal.mail, of, NOTE, token)


async def resend(at: Office, key: str, of: Record) -> str:
    result = await at.desk.resend(wish(at, await at.row(key), of))
    assert isinstance(result, Resent), result
    return result.key


@pytest.mark.parametrize(("before", "after"), [
    (lost, Status.DISCARDED), (refused, Status.DISCARDED), (sent, Status.SENT),
])  # fmt: skip
async def test_the_next_version_is_sent_once_and_its_record_makes_no_other_mail(
    desk: Office, before: Before, after: Status
) -> None:
    first = record("A-1")
    key = await before(desk, first)
    mails = desk.sent()
    newer = await resend(desk, key, first)
    born = await desk.row(newer)
    assert (born.status, born.version, born.coordinates) == (Status.WAITING, 2, first.coordinates)
    assert (await desk.row(key)).status is after
    await desk.settle()
    assert desk.sent() - mails == {newer}
    assert (await desk.row(newer)).status is Status.SENT

    for repeat in (first, again(first)):
        ending = await desk.line.handle(repeat, Hold())
        assert ending.result == "duplicate"
    assert len(desk.sent() - mails) == 1
    assert {one.status for one in await desk.guard.dead_letters()} == {LetterStatus.SETTLED}


async def test_a_resend_is_resent_as_the_version_after_it(desk: Office) -> None:
    first = record("A-1")
    keys = [await sent(desk, first)]
    for _ in range(2):
        keys.append(await resend(desk, keys[-1], first))
        await desk.settle()
    assert desk.sent() == set(keys)
    assert (await desk.row(keys[-1])).version == 3
    assert [await desk.desk.family(key) for key in keys] == [tuple(keys)] * 3
    older = await desk.desk.resend(wish(desk, await desk.row(keys[0]), first))
    assert isinstance(older, NotDone)
    assert keys[1] in older.why


async def test_two_clicks_make_one_mail(desk: Office, database: str) -> None:
    first = record("A-1")
    key = await lost(desk, first)
    row = await desk.row(key)
    others = [await Desk.open(database, environment="test") for _ in range(4)]
    results = await asyncio.gather(
        *(other.resend(wish(desk, row, first, f"t{n}")) for n, other in enumerate(others))
    )
    for other in others:
        await other.close()
    assert [type(result) for result in results].count(Resent) == 1
    await desk.settle()
    assert len(desk.sent()) == 1


async def test_a_click_whose_answer_was_lost_finds_its_own_mail(desk: Office) -> None:
    first = record("A-1")
    asked = wish(desk, await desk.row(await lost(desk, first)), first)
    assert await desk.desk.resend(asked) == await desk.desk.resend(asked)


async def test_what_is_still_being_sent_is_neither_resent_nor_discarded(desk: Office) -> None:
    first, second = record("A-1"), record("A-2")
    flying = await desk.claim(first)
    waiting = await desk.claim(second)
    await desk.guard.record(waiting, MarkWaiting("refused"), desk.mail(second), second)
    for lease, of in ((flying, first), (waiting, second)):
        before = await desk.row(lease.key)
        assert isinstance(await desk.desk.resend(wish(desk, before, of)), NotDone)
        assert isinstance(await desk.desk.discard_key(lease.key, NOTE), NotDone)
        assert await desk.row(lease.key) == before
        ran = await sendonce(
            "discard", lease.key, "--by", "ada", "--why", "no", "--config", str(desk.config)
        )
        assert ran.code == 1
        assert b"in flight" in ran.output


async def test_what_was_seen_before_it_moved_on_is_not_resent(desk: Office) -> None:
    first = record("A-1")
    key = await lost(desk, first)
    seen = await desk.row(key)
    await desk.guard.prove(key, MarkSent("file", "id-1", Evidence.LOOKUP), "found when asked")
    result = await desk.desk.resend(wish(desk, seen, first))
    assert isinstance(result, NotDone)
    assert "is sent by now" in result.why


async def test_late_proof_of_the_former_mail_is_the_truth_and_is_told(desk: Office) -> None:
    """Both were sent, as a person wanted; upstream hears of both, and nobody is alarmed."""
    first = record("A-1")
    key = await lost(desk, first)
    newer = await resend(desk, key, first)
    await desk.settle()
    assert await desk.guard.hear(Notice(key, "file", "pm-1", News.DELIVERED))
    assert await desk.guard.hear(Notice(key, "file", "pm-1", News.BOUNCED))
    await desk.resolvers()._tell()
    row = await desk.row(key)
    assert (row.status, row.provider_message_id) == (Status.SENT, "pm-1")
    told = [
        (o.idempotency_key, o.status, o.source)
        for ended in desk.published
        if (o := ended.outcome) is not None
    ]
    at = first.coordinates
    assert (newer, OutcomeStatus.SENT, at) in told
    assert (key, OutcomeStatus.SENT, at) in told
    assert (key, OutcomeStatus.BOUNCED, at) in told
    story = await desk.desk.story(key)
    assert story is not None
    assert story.second_message_id is None
    assert await desk.guard.outcomes_due() == []


async def test_a_resend_that_failed_is_replayed_under_its_own_key(desk: Office) -> None:
    """Its letter names the new key; the record's own mapping would lead to the former one."""
    first = record("A-1")
    newer = await resend(desk, await lost(desk, first), first)
    row = await desk.row(newer)
    lease = await _take(desk, row, first)
    failed = MarkFailed("file 1, too large", Reason.REJECTED)
    assert isinstance(await desk.guard.record(lease, failed, desk.mail(first), first), Recorded)
    dry = answer(await sendonce("replay", "--json", "--config", str(desk.config)))
    assert [(one["what"], one["idempotency_key"]) for one in dry["forecast"]] == [("send", newer)]
    await sendonce(
        "replay", "--go", "--by", "ada", "--why", "smaller", "--config", str(desk.config)
    )
    await desk.settle()
    assert desk.sent() == {newer}


async def _take(at: Office, row: Row, of: Record) -> Lease:
    mail = replace(at.mail(of), key=row.key)
    granted = await at.guard.claim(Claim(mail, of, "elsewhere", "file", "a", bytes(32), row))
    assert isinstance(granted, Granted)
    return granted.lease


async def test_an_unknown_mail_that_is_given_up_stays_so_and_is_told(desk: Office) -> None:
    first = record("A-1")
    key = await lost(desk, first)
    [letter] = await desk.guard.dead_letters()
    result = await desk.desk.discard_letter(letter.id, NOTE)
    assert isinstance(result, Discarded)
    assert (await desk.row(key)).status is Status.DISCARDED
    await desk.resolvers()._tell()
    assert [e.outcome and e.outcome.status for e in desk.published] == [OutcomeStatus.DISCARDED]
    assert (await desk.line.handle(again(first), Hold())).result == "duplicate"
    assert desk.sent() == set()
    again_ = await desk.desk.discard_key(key, "by eve: too late")
    assert isinstance(again_, NotDone)


async def test_the_command_shows_the_mail_masked_and_asks(desk: Office) -> None:
    first = record("A-1")
    key = await lost(desk, first)
    words = ("resend", key, "--by", "ada", "--why", "it never came", "--config", str(desk.config))
    ran = await sendonce(*words)
    shown = ran.output.decode()
    assert ran.code == 2  # nobody is there to be asked
    assert "a***@example.org" in shown
    assert "Thank you for order A-1." in shown
    assert (await desk.row(key)).status is Status.UNKNOWN

    done = answer(await sendonce(*words, "--yes", "--json"))
    assert (done["version"], done["resend_of"], done["was"]) == (2, key, "unknown")
    await desk.settle()
    assert desk.sent() == {done["idempotency_key"]}
    told = answer(await sendonce("show", key, "--json", "--config", str(desk.config)))
    assert told["versions"] == [key, done["idempotency_key"]]
    assert any("by ada" in sentence for sentence in told["story"])
    second = await sendonce(*words, "--yes")
    assert second.code == 1
    assert done["idempotency_key"] in second.lines[-1]
