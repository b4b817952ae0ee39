"""Laws of settle: what a person says is one mail's, is signed, and is refused whole if misspelt."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from consumer.guard.operators import NotDone
from consumer.guard.settling import Settled, SettleResult
from consumer.model import Coordinates, Row, Status
from tests.unit.cli import asking
from tests.unit.cli.conftest import Sendonce

ONE, TWO = "0f" * 24, "1f" * 24
SIGNED = ("--by", "ada", "--why", "seen in the log")
ROW = Row(
    ONE, "order.receipt", Status.UNKNOWN, "f1", "c1", "smtp", "a1", 1, 0, 2, "o1", "t1",
    lease_live=False, in_doubt=True, coordinates=Coordinates("orders", 3, 42, 1_772_000_000_000),
    doubt_provider="smtp",
)  # fmt: skip


class Guard:
    """Knows the first key. Keeps what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []
        self.known = Settled(ROW, "smtp")

    async def settle(self, key: str, message_id: str, note: str) -> SettleResult:
        self.asked.append((key, message_id, note))
        return self.known if key == ONE else NotDone(f"the guard has no row of {key}")


@pytest.fixture
def guard(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Guard:
    found = Guard()
    monkeypatch.setattr("consumer.cli.settle.at_desk", asking.at(found))
    return found


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("4bcD0Xy=", "4bcD0Xy="),
        (f"<{ONE}@mail.example>", f"{ONE}@mail.example"),
        (f"{ONE}@mail.example", f"{ONE}@mail.example"),
    ],
)
def test_an_id_is_taken_in_the_form_in_which_providers_tell_it(
    guard: Guard, sendonce: Sendonce, written: str, kept: str
) -> None:
    """Signs of its own included, `=` among them; without the brackets of a header."""
    result = sendonce("settle", f"{ONE}={written}", *SIGNED)
    assert result.exit_code == 0
    assert result.stdout == f"{ONE}: was unknown, is sent: smtp has it as {kept}\n"
    [(key, message_id, note)] = guard.asked
    assert (key, message_id) == (ONE, kept)
    assert note.startswith("by ada, ")
    assert note.endswith(": seen in the log")


@pytest.mark.parametrize("row", [ROW, replace(ROW, status=Status.DISCARDED)])
def test_a_mail_that_was_made_again_meanwhile_is_pointed_to(
    guard: Guard, sendonce: Sendonce, row: Row
) -> None:
    """The next version may not be out yet: somebody could still stop it."""
    guard.known = Settled(row, "smtp", TWO)
    assert f"MADE AGAIN, as {TWO}" in sendonce("settle", f"{ONE}=a", *SIGNED).stdout


def test_what_stands_so_already_is_not_called_settled_by_this(
    guard: Guard, sendonce: Sendonce
) -> None:
    guard.known = Settled(replace(ROW, status=Status.SENT, in_doubt=False), "smtp")
    assert "is sent already" in sendonce("settle", f"{ONE}=a", *SIGNED).stdout


def test_each_of_many_is_told_and_one_refused_ends_with_1(guard: Guard, sendonce: Sendonce) -> None:
    result = sendonce("settle", f"{ONE}=a", f"{TWO}=b", *SIGNED, "--json")
    assert result.exit_code == 1
    one, two = json.loads(result.stdout)
    assert one == {
        "idempotency_key": ONE,
        "settled": True,
        "was": "unknown",
        "provider": "smtp",
        "provider_message_id": "a",
        "made_again_as": None,
    }
    assert (two["settled"], two["problem"]) == (False, f"the guard has no row of {TWO}")


@pytest.mark.parametrize(
    "wrong",
    [
        TWO,
        f"{TWO}=",
        f"{TWO}= ",
        f"{TWO}=a b",
        f"{TWO}=a\n",
        f"{TWO}=\N{LATIN SMALL LETTER A WITH DIAERESIS}",
        f"{TWO}={'a' * 256}",
        f"{TWO}=ada@example.org",
        f"{TWO}=<{ONE}@mail.example>",
        "0f=a",
        "=a",
    ],
)
def test_one_misspelt_and_nothing_is_written(guard: Guard, sendonce: Sendonce, wrong: str) -> None:
    """No address either: an id is published, and `forget` would not find it."""
    result = sendonce("settle", f"{ONE}=a", wrong, *SIGNED)
    assert (result.exit_code, result.stdout, guard.asked) == (2, "", [])


def test_unsigned_and_nothing_is_written(guard: Guard, sendonce: Sendonce) -> None:
    assert sendonce("settle", f"{ONE}=a", "--by", "ada").exit_code == 2
    assert guard.asked == []
