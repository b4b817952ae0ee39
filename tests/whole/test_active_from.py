"""The cut-over of a mail type: what is older is the former sender's, on every way."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from consumer.guard.imports import Past
from consumer.intake.hold import Hold
from consumer.model import Record
from tests.unit.cli import conftest as small
from tests.whole.commands import answer, sendonce
from tests.whole.letters import bad
from tests.whole.operating import Office, again, office, record

CUT_OVER = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=1)
BEFORE = timedelta(hours=2)


@pytest.fixture
async def at(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Office]:
    mail = f"active_from = {CUT_OVER.isoformat()}\n{small.MAIL}"
    monkeypatch.setattr(small, "MAIL", mail)
    async with office(database, tmp_path) as made:
        yield made


def _on_time(order: str, milliseconds: int) -> Record:
    """An event of this many milliseconds after the cut-over."""
    return replace(record(order), timestamp=int(CUT_OVER.timestamp() * 1000) + milliseconds)


async def _result(at: Office, came: Record) -> str:
    return (await at.line.handle(came, Hold())).result


async def test_the_moment_itself_is_ours(at: Office) -> None:
    assert await _result(at, _on_time("A-1", -1)) == "skipped"
    assert await _result(at, _on_time("A-2", 0)) == "sent"
    assert at.sent() == {at.mail(record("A-2")).key}


async def test_a_row_wins_over_the_cut_over(at: Office) -> None:
    """Law: what is known to be sent is a duplicate, and told as one, not passed over as a skip."""
    came = record("A-1", age=BEFORE)
    key = at.mail(came).key
    past = Past(key, "order.receipt", "ada@example.org", "old", "old-1", CUT_OVER - BEFORE)
    await at.desk.bring_in([past], "token")
    assert await _result(at, came) == "duplicate"
    assert await _result(at, again(record("A-1"))) == "duplicate"
    assert at.sent() == set()


@pytest.mark.timeout(120)
async def test_a_replay_does_not_lift_it(at: Office) -> None:
    """Law: foretold and done: a letter from before the cut-over is closed without a mail."""
    await at.guard.park(record("B-1", age=BEFORE), bad())
    await at.guard.park(record("B-2"), bad())
    command = ("replay", "--status", "open", "--json", "--config", str(at.config))
    signed = ("--go", "--by", "ada", "--why", "mended")
    foretold = answer(await sendonce(*command, *signed))["forecast"]
    assert [(one["what"], one["detail"]) for one in foretold] == [
        ("skipped", "rule before_active_from"),
        ("send", "through file"),
    ]
    await at.settle()
    assert at.sent() == {at.mail(record("B-2")).key}
    assert sorted(ended.result for ended in at.published) == ["sent", "skipped"]
