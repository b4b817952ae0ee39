"""Laws of forget, of show ADDRESS, and of letters whose record cannot be had."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import AsyncMock

import pytest

from consumer.cli import parked as at_it
from consumer.cli import replay
from consumer.cli.foretold import foretold
from consumer.forecast import Forecast, What
from consumer.guard import DeadLetter
from consumer.guard.forgetting import Forgotten
from consumer.guard.mentions import Mentions
from consumer.guard.reading import Addressed
from consumer.model import Mail, Record, Status
from tests.unit.cli import asking
from tests.unit.cli.conftest import EVENT, Sendonce
from tests.unit.cli.test_guard_commands import AT, KEY, LETTER, RECORD

SIGNED = ("--by", "grace", "--why", "request 17")
EMPTY = replace(RECORD, key=None, value=None, headers=())
WIPED = replace(LETTER, record=EMPTY, wiped_at=datetime(2026, 3, 2, tzinfo=UTC))
LOCKED = replace(LETTER, record=None, sealed="k1", locked="its record is sealed under the key k1")


class Desk:
    """What the desk would say."""

    def __init__(self) -> None:
        self.done = Forgotten(rows=3, closed=1, letters=2, texts=1)
        self.letter: DeadLetter = LETTER
        self.asked: list[tuple[str, str]] = []
        self.reads: Callable[[Record], Mail | None] | None = None

    async def forget(
        self, who: Mentions, note: str, reads: Callable[[Record], Mail | None]
    ) -> Forgotten:
        self.asked.append((who.forms[0], note))
        self.reads = reads
        return self.done

    async def of_address(self, who: Mentions, _limit: int) -> list[Addressed]:
        known = who.forms[0] == "ada@example.org"
        return [Addressed(KEY, "order.receipt", Status.SENT, AT, AT)] if known else []

    async def dead_letter(self, _letter_id: int) -> DeadLetter:
        return self.letter


@pytest.fixture
def desk(configured: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    made = Desk()

    ask = asking.at(made)
    for command in ("forget", "addressed"):
        monkeypatch.setattr(f"consumer.cli.{command}.at_desk", ask)
    monkeypatch.setattr("consumer.cli.dead_letters.ask", ask)
    return made


def test_forgetting_needs_a_name_a_reason_and_a_yes(desk: Desk, sendonce: Sendonce) -> None:
    """Law: it cannot be taken back, so nothing is done by half."""
    for words in (("--yes",), ("--by", "grace", "--yes"), SIGNED):
        assert sendonce("forget", "ada@example.org", *words).exit_code == 2
    assert sendonce("forget", "ada", *SIGNED, "--yes").exit_code == 2
    assert desk.asked == []


def test_it_says_how_much_was_erased_and_what_stays(desk: Desk, sendonce: Sendonce) -> None:
    told = sendonce("forget", " Ada@Example.ORG", *SIGNED, "--yes")
    assert told.exit_code == 0
    assert "3, of which 1 might still have been sent: given up" in told.stdout
    assert "2 emptied" in told.stdout
    assert "The keys stay" in told.stdout
    assert "ada@" not in told.stdout.lower()
    [(address, note)] = desk.asked
    assert address == "ada@example.org"
    assert note.startswith("by grace")


def test_a_record_is_read_as_the_mail_that_it_makes(desk: Desk, sendonce: Sendonce) -> None:
    sendonce("forget", "ada@example.org", *SIGNED, "--yes")
    assert desk.reads is not None
    mail = desk.reads(replace(RECORD, value=EVENT.encode(), headers=()))
    assert mail is not None
    assert mail.recipient == "ada@example.org"
    assert desk.reads(EMPTY) is None


def test_what_was_left_alone_is_named_and_ends_with_1(desk: Desk, sendonce: Sendonce) -> None:
    desk.done = Forgotten(in_flight={KEY}, locked={7: "sealed under the key k1"})
    told = sendonce("forget", "ada@example.org", *SIGNED, "--yes")
    assert told.exit_code == 1
    assert f"in flight, left alone: {KEY}" in told.stdout
    assert "dead letter 7 was not searched: sealed under the key k1" in told.stdout
    facts = json.loads(sendonce("forget", "ada@example.org", *SIGNED, "--yes", "--json").stdout)
    assert facts == {
        "rows": 0, "given_up": 0, "dead_letters": 0, "texts": 0, "in_flight": [KEY],
        "locked": [{"id": 7, "why": "sealed under the key k1"}],
    }  # fmt: skip


async def test_nothing_is_foretold_of_a_record_that_is_not_there() -> None:
    """Law: what cannot be read is said so, and is neither made due nor counted as changed."""

    class Eyes:
        reading = SimpleNamespace(aclose=AsyncMock())
        rehearsal = SimpleNamespace(fetcher=reading)

        async def of(self, _desk: object, letters: Sequence[DeadLetter]) -> list[Forecast]:
            return [Forecast(one, What.SEND, "through file", KEY) for one in letters]

    kept = SimpleNamespace(letters=AsyncMock(return_value=[WIPED, LETTER, LOCKED]))
    forecasts = await foretold(cast("Any", kept), cast("Any", Eyes()), [1, 2, 3])
    assert [(one.what, one.letter) for one in forecasts] == [
        (What.SEND, LETTER),
        (What.STILL_BAD, WIPED),
        (What.STILL_BAD, LOCKED),
    ]
    assert len(replay._turns(forecasts, 1.0)) == 1
    assert replay.Seen(3, at_it.Parked(0, None), forecasts, {LETTER.id}).changed == []


def test_an_address_finds_its_keys(desk: Desk, sendonce: Sendonce) -> None:
    assert KEY in sendonce("show", "Ada@example.org").stdout
    [found] = json.loads(sendonce("show", "ada@example.org", "--json").stdout)
    assert (found["key"], found["status"]) == (KEY, "sent")
    assert sendonce("show", "eve@example.org").exit_code == 1
    assert sendonce("show", "@").exit_code == 2


@pytest.mark.parametrize(
    ("letter", "why"),
    [
        (WIPED, "nothing of its record is kept since 2026-03-02 00:00:00 UTC"),
        (LOCKED, "its record is sealed under the key k1"),
    ],
)
def test_a_letter_without_its_record_says_why(
    desk: Desk, sendonce: Sendonce, letter: DeadLetter, why: str
) -> None:
    desk.letter = letter
    assert why in sendonce("dead-letters", "show", "7").stdout
    raw = sendonce("dead-letters", "show", "7", "--raw")
    assert (raw.exit_code, why in raw.stderr) == (1, True)
    facts = json.loads(sendonce("dead-letters", "show", "7", "--json").stdout)
    assert (facts.get("sealed"), facts.get("locked")) == (letter.sealed, letter.locked)
