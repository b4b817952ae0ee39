"""Laws of resend before it asks: what will be refused is refused first, and shows no mail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from consumer.guard import DeadLetter
from consumer.model import Coordinates, Row
from tests.unit.cli import asking
from tests.unit.cli.conftest import EVENT, Sendonce
from tests.unit.cli.test_guard_commands import KEY, LETTER, RECORD, ROW

SIGNED = ("--by", "ada", "--why", "it never came")


class Desk:
    """What the desk would say of one key, whose record a dead letter has."""

    def __init__(self) -> None:
        self.row = ROW
        self.why: str | None = None

    async def rows(self, keys: list[str]) -> dict[str, Row]:
        return {key: self.row for key in keys if key == KEY}

    async def forgotten(self, _key: str) -> str | None:
        return self.why

    async def letter_at(self, _at: Coordinates, _mail_type: str) -> DeadLetter:
        return replace(LETTER, record=replace(RECORD, value=EVENT.encode(), headers=()))

    async def family(self, key: str) -> tuple[str, ...]:
        return (key,)


@pytest.fixture
def desk(configured: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    made = Desk()

    ask = asking.at(made)
    monkeypatch.setattr("consumer.cli.resend.at_desk", ask)
    return made


def test_the_mail_is_shown_before_anybody_is_asked(desk: Desk, sendonce: Sendonce) -> None:
    shown = sendonce("resend", KEY, *SIGNED)
    assert "Thank you for order A-1." in shown.stdout
    assert "nobody can be asked here" in shown.stderr


@pytest.mark.parametrize("place", [ROW.coordinates, None])
def test_of_who_was_forgotten_nothing_is_shown(
    desk: Desk, sendonce: Sendonce, place: Coordinates | None
) -> None:
    desk.why = "the recipient was forgotten"
    desk.row = replace(ROW, coordinates=place)
    refused = sendonce("resend", KEY, *SIGNED)
    assert refused.exit_code == 1
    assert refused.stdout == ""
    assert refused.stderr == "sendonce: the recipient was forgotten\n"


def test_a_key_without_a_row_may_have_been_skipped_and_would_be_again(
    desk: Desk, sendonce: Sendonce
) -> None:
    refused = sendonce("resend", "0" * 48, *SIGNED)
    assert refused.exit_code == 1
    assert "never claimed, or older than guard.retention" in refused.stderr
    assert "log line `skipped`" in refused.stderr
    assert "unless a rule skipped it" in refused.stderr
