"""A replay does what its dry run said, letter for letter; and it never makes a letter grow."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from consumer.forecast import What
from consumer.guard import DeadLetter, LetterStatus
from consumer.guard.operators import Turn
from consumer.model import MarkSent, Row, Status
from tests.whole.commands import answer, sendonce
from tests.whole.letters import bad, fill, invalid
from tests.whole.operating import Office, again, office, record

SIGNED = ("--by", "ada", "--why", "mended")


@pytest.fixture
async def desk(database: str, tmp_path: Path) -> AsyncIterator[Office]:
    async with office(database, tmp_path) as made:
        yield made


@pytest.mark.timeout(240)
async def test_what_is_foretold_for_a_thousand_letters_is_what_happens(desk: Office) -> None:
    """Row for row: what is sent, what stays, what fails again and with which words."""
    await fill(desk)
    command = ("replay", "--status", "open", "--status", "parked", "--json", "--config")
    dry = answer(await sendonce(*command, str(desk.config), "--limit", "2000"))
    ids = [one["id"] for one in dry["forecast"]]
    before = await _letters(desk, ids)
    assert dry["due"] == []
    assert len(before) >= 1000
    rows, mails = await _rows(desk, dry["forecast"]), desk.sent()

    over = await sendonce(*command, str(desk.config), "--go", *SIGNED)
    assert (over.code, over.output) == (1, b"")
    assert "--limit" in over.lines[-1]
    go = answer(
        await sendonce(
            *command, str(desk.config), "--go", *SIGNED, "--limit", "2000", "--rate", "1000"
        )
    )
    assert [(f["id"], f["what"]) for f in go["forecast"]] == [
        (f["id"], f["what"]) for f in dry["forecast"]
    ]
    assert sorted(go["due"]) == sorted(ids)
    await desk.settle(120)

    after = await _letters(desk, ids)
    rows_after = await _rows(desk, dry["forecast"])
    told = Counter(f["what"] for f in dry["forecast"])
    assert set(told) == set(What) - {What.WAITS}
    wrong = [
        (fact, after[fact["id"]])
        for fact in dry["forecast"]
        if not _came_true(fact, before[fact["id"]], after[fact["id"]], rows, rows_after)
    ]
    assert wrong == []
    assert len(desk.sent() - mails) == told[What.SEND]


def _came_true(
    fact: dict[str, str],
    before: DeadLetter,
    after: DeadLetter,
    rows: Mapping[str, Row],
    rows_after: Mapping[str, Row],
) -> bool:
    key = fact["idempotency_key"]
    was, row = rows.get(key), rows_after.get(key)
    match What(fact["what"]):
        case What.SEND:
            sent = row is not None and row.status is Status.SENT
            return sent and (was is None or was.status is not Status.SENT) and _closed(after)
        case What.EVIDENCE:
            return row == was and after.status is LetterStatus.OPEN and not after.replay
        case What.DUPLICATE | What.CLOSED | What.SKIPPED:
            same = row == was or fact["what"] == What.DUPLICATE
            return same and after.status is LetterStatus.REPLAYED
        case What.STILL_BAD if after.status is LetterStatus.PARKED:
            return row == was and fact["detail"].endswith("its row stays open")
        case What.STILL_BAD:
            words = f"{after.reason}: {after.detail}"
            return words == fact["detail"] and _once_more(before, after)
        case What.REFUSED:
            return fact["detail"].startswith(after.reason) and _once_more(before, after)
        case What.WAITS:
            return False


def _closed(letter: DeadLetter) -> bool:
    return letter.status in (LetterStatus.SETTLED, LetterStatus.REPLAYED)


def _once_more(before: DeadLetter, after: DeadLetter) -> bool:
    return after.status is LetterStatus.OPEN and after.failures == before.failures + 1


async def _letters(at: Office, ids: list[int]) -> dict[int, DeadLetter]:
    return {letter.id: letter for letter in await at.desk.letters(ids)}


async def _rows(at: Office, forecast: list[dict[str, str]]) -> Mapping[str, Row]:
    return await at.desk.rows({key for fact in forecast if (key := fact["idempotency_key"])})


async def test_what_waits_for_a_flight_is_judged_when_it_has_landed(desk: Office) -> None:
    first = record("A-1")
    lease = await desk.claim(first)
    await desk.guard.park(again(first), bad())
    flags = ("--config", str(desk.config), "--json")
    done = answer(await sendonce("replay", "--go", *SIGNED, *flags))
    assert [one["what"] for one in done["forecast"]] == [What.WAITS]
    await desk.guard.record(lease, MarkSent("file", "x"), desk.mail(first), first)
    await desk.settle()
    assert [one.status for one in await desk.guard.dead_letters()] == [LetterStatus.REPLAYED]
    assert desk.sent() == set()


async def test_fifty_replays_of_a_bad_record_leave_one_letter_of_the_same_size(
    desk: Office,
) -> None:
    await invalid(desk, "one")
    [first] = await desk.guard.dead_letters()
    sizes = []
    for _ in range(50):
        await _replay(desk, first.id)
        rows = await desk.desk._lane.run(
            lambda c: c.fetch("SELECT pg_column_size(d.*) AS size, d.* FROM dead_letter d")
        )
        [letter] = rows
        sizes.append(letter["size"])
    assert (letter["failures"], letter["status"]) == (51, "open")
    assert "by ada" in letter["note"]
    assert max(sizes) - min(sizes) <= 8  # a number may take another byte


async def _replay(at: Office, letter_id: int) -> None:
    [letter] = await at.desk.letters([letter_id])
    note = "by ada, 2026-11-30 14:02:00.000000 UTC: again"
    assert await at.desk.make_due([Turn(letter, 0)], note) == {letter_id}
    [due] = await at.guard.take_due()
    await at.resolvers().work(due)
