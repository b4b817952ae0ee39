"""Asking Mailgun for the events of a mail, and what they prove."""

from __future__ import annotations

import orjson
import pytest

from consumer.providers.lookups import Absent, Found, Sighting, Unasked
from consumer.providers.mailgun_answers import bare
from consumer.providers.mailgun_events import MailgunEvents
from tests.doubles.mails import KEY, MAIL

EVENTS = MailgunEvents("https://any/events", {})
OURS = f"{KEY}@shop.example"


def event(message_id: object = OURS, kind: str = "accepted") -> dict[str, object]:
    return {"event": kind, "message": {"headers": {"message-id": message_id}}}


def test_the_question_names_the_id_without_brackets() -> None:
    asked = EVENTS.question(MAIL)
    assert asked.url == f"https://any/events?message-id={KEY}%40shop.example&ascending=no&limit=10"


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([], Absent()),
        ([event()], Found(OURS)),
        ([event(f"<{OURS}>")], Found(OURS)),
        ([event(kind="delivered")], Found(OURS)),
        ([event(kind="failed"), event()], Found(OURS)),  # it was taken, and bounced
        ([event(kind="rejected")], Absent()),
        ([event(kind="rejected"), event()], Found(OURS)),
        ([event("other@shop.example")], Unasked("mailgun: events of other mails")),
        ([event("other@shop.example"), event()], Found(OURS)),
        ([None, 7, {}, {"message": 1}, event(None)], Unasked("mailgun: events of other mails")),
    ],
)
def test_only_an_event_of_this_very_mail_is_proof(items: list[object], expected: Sighting) -> None:
    """Where the filter is ignored, other mails' events come: mailgun/mailgun.js #296."""
    assert EVENTS.sighting(MAIL, 200, orjson.dumps({"items": items})) == expected


@pytest.mark.parametrize(
    ("status", "body"),
    [(200, b""), (200, b"{}"), (200, b'{"items": null}'), (401, b"Forbidden"), (403, b"{}")],
)
def test_an_answer_that_says_nothing_is_not_absence(status: int, body: bytes) -> None:
    assert isinstance(EVENTS.sighting(MAIL, status, body), Unasked)
    assert isinstance(EVENTS.sighting(MAIL, 500, b'{"items": []}'), Unasked)


def test_absence_is_read_the_careful_way() -> None:
    assert (EVENTS.visible_after, EVENTS.absence_proves) == (1800.0, False)


@pytest.mark.parametrize("written", ["<a@b>", "a@b", " <a@b> "])
def test_an_id_has_one_form(written: str) -> None:
    assert bare(written) == "a@b"
