"""Laws of the story: what happened, in the order of time, in words for the telephone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from consumer.cli.telling import sentences
from consumer.guard import DeadLetter, Happening, LetterStatus, Story
from consumer.model import IMPORTED, Coordinates, Evidence, News, Reason, Row, Status

AT = datetime(2026, 11, 30, 14, 2, 5, tzinfo=UTC)
KEY, NEWER = "0f" * 24, "ab" * 24
PLACE = Coordinates("orders", 3, 42, 1_772_000_000_000)
ROW = Row(
    KEY, "order.receipt", Status.SENT, "f1", "c1", "postmark", "a1", 1, 0, 2, "o1", "t1",
    lease_live=False, in_doubt=False, coordinates=PLACE, provider_message_id="pm-1",
    sent_at=AT + timedelta(seconds=22), first_attempt_at=AT,
)  # fmt: skip
STORY = Story(ROW, "ada@example.org", AT, None, None, None, None, outcome_due=False, letters=())


def line(event: str, seconds: float, detail: str = "", times: int = 1, **more: Any) -> Happening:
    at = AT + timedelta(seconds=seconds)
    values: dict[str, Any] = {
        "provider": "postmark", "account": "a1", "epoch": 1, "attempt": 1,
        "provider_message_id": None, "due": False,
    }  # fmt: skip
    last = at + timedelta(seconds=10 * (times - 1))
    return Happening(at=at, last_at=last, times=times, event=event, detail=detail, **values | more)


def told(*history: Happening, row: Row = ROW, **more: Any) -> list[str]:
    return sentences(replace(STORY, row=row, history=history, **more), "a***@example.org")


def test_a_lost_answer_that_was_found_is_told_from_the_first_try_to_its_proof() -> None:
    assert told(
        line("unknown", 10, "read timeout"),
        line("asked", 12, "not found yet"),
        line("sent", 22, "by lookup: found when asked", provider_message_id="pm-1"),
        settled_by=Evidence.LOOKUP,
    ) == [
        (
            "On 30 November 2026 at 14:02:05 UTC the mail order.receipt to a***@example.org"
            " (record orders/3@42) was first tried through postmark."
        ),
        (
            "Ten seconds later the request to postmark broke off (read timeout); nobody knew"
            " whether it was sent."
        ),
        "Two seconds later postmark was asked (not found yet), which settled nothing yet.",
        "Ten seconds later postmark, asked, had it under id pm-1: sent once.",
    ]


def test_a_mail_that_was_plainly_accepted_has_a_short_story() -> None:
    assert told()[1:] == ["22 seconds later postmark accepted it under id pm-1."]


def test_an_imported_mail_says_who_says_so() -> None:
    row = replace(ROW, catalogue=IMPORTED, provider="old", first_attempt_at=None, coordinates=None)
    assert told(row=row) == [
        (
            "On 30 November 2026 at 14:02:27 UTC it was sent before this service was there, through"
            " old under id pm-1, as the imported list of its sender says."
        )
    ]


def test_what_is_not_over_says_who_is_at_it() -> None:
    letter = DeadLetter(
        7, KEY, "order.receipt", Reason.UNKNOWN, "read timeout", LetterStatus.OPEN, PLACE, 1, AT,
        AT, None,
    )  # fmt: skip
    row = replace(ROW, status=Status.UNKNOWN, sent_at=None, in_doubt=True)
    ended = told(line("open", 7300, "nothing is left to ask"), row=row, letters=(letter,))
    assert ended[1:] == [
        (
            "On 30 November 2026 at 16:03:45 UTC nothing was left to ask, and a person was asked to"
            " decide."
        ),
        "Nobody knows to this day whether it was sent.",
        "Dead letter 7 (unknown) is open: a person has to decide.",
    ]
    parked = replace(letter, status=LetterStatus.PARKED, next_check_at=AT + timedelta(hours=3))
    assert told(row=row, letters=(parked,))[-1] == (
        "Dead letter 7 (unknown) is parked: the service is at it, next on 30 November 2026 at"
        " 17:02:05 UTC."
    )


def test_a_double_is_said_and_never_called_once() -> None:
    story = told(
        line("sent", 5, "by webhook: delivered", provider_message_id="pm-1"),
        line("double", 9, provider_message_id="pm-2"),
        second_message_id="pm-2",
    )
    assert story[-1] == "It was sent twice: the second mail has id pm-2."
    assert not any("once" in sentence for sentence in story)


def test_versions_name_each_other_and_who_asked() -> None:
    note = "by ada, 2026-11-30 15:00:07.123456 UTC: it never came"
    row = replace(ROW, status=Status.DISCARDED, sent_at=None, in_doubt=True)
    story = told(line("resent", 60, f"{NEWER} {note}"), row=row)
    assert story[1] == (
        "60 seconds later it was asked for once more by ada, 2026-11-30 15:00:07 UTC: it never"
        " came; it went on as version 2."
    )
    born = told(line("asked for again", -1, f"{KEY} {note}"), version=2)
    assert born[0].endswith("15:00:07 UTC: it never came: this is version 2.")


def test_what_was_never_tried_is_not_taken_up_again() -> None:
    """The line has the number of the attempt that it begins."""
    first = told(line("taken over", -1, "its attempts go on", attempt=1), version=2)[0]
    assert first.endswith(" it was taken up.")
    later = told(line("taken over", 5, "its attempts go on", attempt=2))[1]
    assert later.endswith(" it was taken up again (its attempts go on).")


def test_what_a_person_found_is_told_with_the_name() -> None:
    note = "by ada, 2026-11-30 15:00:07.123456 UTC: seen in the relay's log"
    row = replace(ROW, sent_at=AT + timedelta(seconds=10), provider_message_id="pm-123")
    story = told(
        line("unknown", 10, "read timeout"),
        line("sent", 3610, f"by person: {note}", provider_message_id="pm-123"),
        row=row,
        settled_by=Evidence.PERSON,
    )
    assert story[-1] == (
        "60 minutes later a person recorded that postmark had it under id pm-123 (by ada,"
        " 2026-11-30 15:00:07 UTC: seen in the relay's log)."
    )
    assert not any("accepted" in sentence for sentence in story)


def test_what_a_person_wrote_by_hand_is_told_last_and_not_as_an_answer() -> None:
    """With SQL, as it was before `settle`: nobody knows when it was found."""
    row = replace(ROW, sent_at=AT + timedelta(seconds=10), provider_message_id="pm-123")
    story = told(
        line("unknown", 10, "read timeout"),
        line("open", 600, "nothing is left to ask"),
        row=row,
        settled_by=Evidence.PERSON,
    )
    assert story[-1] == "A person recorded that postmark had it under id pm-123."
    assert not any("accepted" in sentence for sentence in story)


def test_our_own_stop_is_not_blamed_on_the_provider() -> None:
    sentence = told(line("unknown", 10, "postmark: called back"))[1]
    assert "(the service stopped)" in sentence


@pytest.mark.parametrize("by", Evidence)
def test_each_evidence_is_told_in_words_of_its_own(by: Evidence) -> None:
    [_, sentence] = told(line("sent", 5, f"by {by}: why", provider_message_id="pm-1"))
    assert "pm-1" in sentence
    assert "{" not in sentence


def test_what_repeats_is_told_once_with_its_number() -> None:
    sentence = told(line("waiting", 5, "its provider is shut", times=3))[1]
    assert sentence == (
        "Five seconds later postmark was not reachable, so it had to wait; three times, last on"
        " 30 November 2026 at 14:02:30 UTC."
    )


def test_a_provider_that_tells_of_the_mail_is_heard() -> None:
    story = told(
        line("bounced", 60, "HardBounce"), delivery=News.BOUNCED,
        delivery_at=AT + timedelta(seconds=60),
    )  # fmt: skip
    assert story[-1] == "38 seconds later postmark reported that it bounced (HardBounce)."
