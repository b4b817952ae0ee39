"""Laws of show and dead-letters: the whole story, masked where it is a person's data."""

from __future__ import annotations

import json
from base64 import b64decode
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from consumer.guard import DeadLetter, LetterStatus, Query, Story
from consumer.guard.operators import Selection
from consumer.model import Coordinates, News, Reason, Record, Row, Status
from tests.unit.cli import asking
from tests.unit.cli.conftest import Sendonce

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
KEY = "0f" * 24
PLACE = Coordinates("orders", 3, 42, 1_772_000_000_000)
VALUE = b'{"email": "ada@example.org"}\x00\xff\x1b[31m'
RECORD = Record("orders", 3, 42, PLACE.timestamp, b"k", VALUE, (("trace", b"\xff"), ("none", None)))
LETTER = DeadLetter(
    7, KEY, "order.receipt", Reason.CONFLICT, "other\x1b[2J content", LetterStatus.OPEN, PLACE,
    2, AT, AT, None, RECORD,
)  # fmt: skip
ROW = Row(
    KEY, "order.receipt", Status.SENT, "f1", "c1", "postmark", "a1", 1, 0, 2, "o1", "t1",
    lease_live=False, in_doubt=False, coordinates=PLACE, provider_message_id="pm-1", sent_at=AT,
    body_hash=b"\x01",
)  # fmt: skip
STORY = Story(ROW, "ada@example.org", AT, None, None, None, None, False, (LETTER,))  # noqa: FBT003 - as the guard builds it


class Answers:
    """What the guard would say. An answer without the record comes from a list."""

    def __init__(self) -> None:
        self.queries: list[Query] = []
        self.told = STORY
        self.letter = LETTER
        self.older = 0  # letters beside the one
        self.chosen = Selection()

    async def story(self, key: str) -> Story | None:
        return self.told if key == KEY else None

    async def family(self, key: str) -> tuple[str, ...]:
        return (key,)

    async def dead_letter(self, letter_id: int) -> DeadLetter | None:
        return self.letter if letter_id == LETTER.id else None

    async def dead_letters(self, query: Query) -> list[DeadLetter]:
        self.queries.append(query)
        newest = (replace(LETTER, id=LETTER.id + n, record=None) for n in range(self.older, -1, -1))
        return list(newest)[: query.limit]

    async def count(self, chosen: Selection) -> int:
        self.chosen = chosen
        return 1 + self.older


@pytest.fixture
def answers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Answers:
    guard = Answers()

    ask = asking.at(guard)
    monkeypatch.setattr("consumer.cli.show.at_desk", ask)
    monkeypatch.setattr("consumer.cli.dead_letters.ask", ask)
    monkeypatch.setattr("consumer.cli.dead_letters.at_desk", ask)
    return guard


def test_show_tells_the_story_and_masks_the_address(answers: Answers, sendonce: Sendonce) -> None:
    shown = sendonce("show", KEY).stdout
    assert "order.receipt: sent (a provider accepted it)" in shown
    assert "orders/3@42" in shown
    assert "1 in round 0" in shown
    assert "pm-1" in shown
    assert "dead letter 7, open: conflict" in shown
    assert "a***@example.org" in shown
    assert "ada@" not in shown
    assert "ada@example.org" in sendonce("show", KEY, "--reveal").stdout


def test_the_headline_says_what_its_provider_told_later(
    answers: Answers, sendonce: Sendonce
) -> None:
    answers.told = replace(STORY, delivery=News.BOUNCED, delivery_at=AT)
    shown = sendonce("show", KEY).stdout
    assert "sent (a provider accepted it and reported that it bounced)" in shown


def test_show_json_is_one_document(answers: Answers, sendonce: Sendonce) -> None:
    told = json.loads(sendonce("show", KEY, "--json").stdout)
    assert told["idempotency_key"] == KEY
    assert told["recipient"] == "a***@example.org"
    assert (told["attempts"], told["round"]) == (1, 0)
    assert (told["status"], told["provider_message_id"]) == ("sent", "pm-1")
    assert told["source"] == {
        "topic": "orders", "partition": 3, "offset": 42, "timestamp": PLACE.timestamp
    }  # fmt: skip
    assert told["dead_letters"][0]["id"] == 7


def test_a_key_that_the_guard_does_not_know_ends_with_1(
    answers: Answers, sendonce: Sendonce
) -> None:
    result = sendonce("show", "0" * 48)
    assert result.exit_code == 1
    assert "no row" in result.stderr
    assert "a record that was skipped leaves no row" in result.stderr


def test_a_record_is_no_address_and_the_way_to_its_letter_is_told(
    answers: Answers, sendonce: Sendonce
) -> None:
    result = sendonce("show", "book.ings-1/3@42")
    assert result.exit_code == 2
    assert "neither a key nor an address" in result.stderr
    assert "`sendonce dead-letters list --topic book.ings-1`" in result.stderr


def test_list_shows_what_is_not_closed_in_plain_columns(
    answers: Answers, sendonce: Sendonce
) -> None:
    lines = sendonce("dead-letters", "list").stdout.splitlines()
    assert len(lines) == 2
    assert lines[1].split("\t")[:5] == ["7", "open", "conflict", "order.receipt", "orders/3@42"]
    assert "\x1b" not in lines[1]
    assert answers.queries == [Query([LetterStatus.OPEN, LetterStatus.PARKED], limit=101)]


def test_list_hands_its_filters_to_the_guard(answers: Answers, sendonce: Sendonce) -> None:
    sendonce(
        "dead-letters", "list", "--reason", "conflict", "--reason", "invalid", "--status",
        "settled", "--type", "order.receipt", "--topic", "orders", "--before", "9", "--limit", "5",
    )  # fmt: skip
    assert answers.queries == [
        Query(
            [LetterStatus.SETTLED],
            [Reason.CONFLICT, Reason.INVALID],
            "order.receipt",
            "orders",
            before=9,
            limit=6,
        )
    ]


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_page_that_is_not_all_says_so_beside_what_is_read_by_a_program(
    answers: Answers, sendonce: Sendonce, form: tuple[str, ...]
) -> None:
    """Law: nobody takes a page for all there is."""
    answers.older = 3
    words = ("dead-letters", "list", "--reason", "conflict", *form)
    page = sendonce(*words, "--limit", "2", "--before", "11")
    assert page.exit_code == 0
    assert "4 dead letters match, and only 2 older than 11 are shown" in page.stderr
    assert "the next page: --before 9" in page.stderr
    assert answers.chosen.reasons == [Reason.CONFLICT]
    assert "only the newest 2 are shown" in sendonce(*words, "--limit", "2").stderr
    assert sendonce(*words, "--limit", "4").stderr == ""


def test_list_json_has_every_member_of_the_contract(answers: Answers, sendonce: Sendonce) -> None:
    """The record's bytes are there, byte for byte, in Base64."""
    [told] = json.loads(sendonce("dead-letters", "list", "--json").stdout)
    assert set(told) == {
        "id", "idempotency_key", "event_type", "reason", "detail", "status", "topic", "partition",
        "offset", "record_timestamp", "record_key", "record_value", "record_headers", "failures",
        "first_failed_at", "last_failed_at", "next_check_at", "replay", "note",
    }  # fmt: skip
    assert b64decode(told["record_value"]) == VALUE
    assert told["record_headers"] == [["trace", "/w=="], ["none", None]]


def test_show_letter_keeps_the_value_back_until_it_is_asked_for(
    answers: Answers, sendonce: Sendonce
) -> None:
    shown = sendonce("dead-letters", "show", "7")
    assert "Dead letter 7: conflict, open" in shown.stdout
    assert f"{len(VALUE)} bytes" in shown.stdout
    assert "ada@" not in shown.stdout
    assert sendonce("dead-letters", "show", "7", "--raw").stdout_bytes == VALUE


@pytest.mark.parametrize("status", LetterStatus)
def test_a_replay_is_offered_only_of_what_a_replay_takes(
    answers: Answers, sendonce: Sendonce, status: LetterStatus
) -> None:
    answers.letter = replace(LETTER, status=status)
    shown = sendonce("dead-letters", "show", "7").stdout
    assert ("sendonce replay 7" in shown) == (status in (LetterStatus.OPEN, LetterStatus.PARKED))


def test_what_a_record_does_not_have_is_not_told(answers: Answers, sendonce: Sendonce) -> None:
    assert "headers    trace, none" in sendonce("dead-letters", "show", "7").stdout
    answers.letter = replace(LETTER, record=replace(RECORD, headers=(), value=None))
    shown = sendonce("dead-letters", "show", "7").stdout
    assert "headers" not in shown
    assert "--raw" not in shown


def test_a_letter_that_is_not_there_ends_with_1(answers: Answers, sendonce: Sendonce) -> None:
    assert sendonce("dead-letters", "show", "8").exit_code == 1
