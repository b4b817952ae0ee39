"""What the service is at by itself: told to a person who asks for it, who may hurry it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from consumer.guard import LetterStatus
from consumer.model import MarkUnknown
from tests.whole.commands import answer, sendonce
from tests.whole.letters import invalid
from tests.whole.operating import Office, office, record

SIGNED = ("--by", "ada", "--why", "the customer waits")


@pytest.fixture
async def desk(database: str, tmp_path: Path) -> AsyncIterator[Office]:
    async with office(database, tmp_path) as made:
        yield made


async def parked(at: Office) -> str:
    """An answer that never came; evidence is looked for in an hour."""
    first = record("A-1")
    lease = await at.claim(first)
    unknown = MarkUnknown("reset", "file", look_in=3600.0)
    await at.guard.record(lease, unknown, at.mail(first), first)
    return lease.key


async def test_what_is_parked_is_told_and_named_may_be_hurried(desk: Office) -> None:
    await parked(desk)
    [letter] = await desk.guard.dead_letters()
    assert letter.status is LetterStatus.PARKED
    words = ("--config", str(desk.config))
    dry = await sendonce("replay", "--reason", "unknown", *words)
    assert b"1 is parked: the service is at it, next look at " in dry.output
    assert b"no dead letter matches" not in dry.output
    facts = answer(await sendonce("replay", "--reason", "unknown", "--json", *words))
    assert (facts["matched"], facts["parked"]) == (0, 1)

    go = await sendonce("replay", str(letter.id), "--go", *SIGNED, *words)
    assert go.code == 0
    assert b"restart them first" in go.output
    [hurried] = await desk.guard.dead_letters()
    assert hurried.replay
    assert letter.next_check_at is not None
    assert hurried.next_check_at is not None
    assert hurried.next_check_at < letter.next_check_at


async def test_an_id_that_does_not_exist_is_refused_before_anything_is_done(desk: Office) -> None:
    await invalid(desk, "one")
    [letter] = await desk.guard.dead_letters()
    words = ("replay", str(letter.id), "999", "--go", *SIGNED, "--config", str(desk.config))
    ran = await sendonce(*words)
    assert ran.code == 1
    assert "there is no dead letter 999" in ran.lines[-1]
    assert [one.replay for one in await desk.guard.dead_letters()] == [False]


async def test_a_resend_warns_of_what_the_service_may_still_find(desk: Office) -> None:
    key = await parked(desk)
    words = ("resend", key, *SIGNED, "--yes", "--config", str(desk.config))
    shown = (await sendonce(*words)).output
    assert b"the service is still looking (next at " in shown
    assert b"a second mail may be the result" in shown


async def test_a_program_that_resends_is_told_when_the_service_would_look(desk: Office) -> None:
    words = ("resend", await parked(desk), *SIGNED, "--yes", "--json", "--config", str(desk.config))
    assert answer(await sendonce(*words))["next_look"] is not None
