"""Postmark's answers, one row a documented code, and what no page documents.

Sources: https://postmarkapp.com/developer/api/overview#error-codes and .../api/email-api; the
public client libraries and their issues for the answers that those pages leave out.
"""

from __future__ import annotations

import orjson
import pytest

from consumer.model import (
    Accepted,
    Answer,
    Blocked,
    Prepared,
    Refused,
    Rejected,
    Scope,
    SlowDown,
    Transient,
    Unclear,
)
from consumer.providers.postmark import CODES, Postmark, PostmarkOptions, read
from tests.doubles.mails import KEY, mail

ROWS: list[tuple[int, int, type[Answer]]] = [
    (401, 10, Blocked),
    (503, 100, Transient),
    (422, 300, Rejected),
    (422, 400, Blocked),
    (422, 401, Blocked),
    (422, 402, Rejected),
    (422, 403, Rejected),
    (422, 405, Blocked),
    (422, 406, Refused),
    (406, 406, Refused),  # the status of one page; the code decides
    (200, 406, Refused),  # activity in batches, and mocks that say 200 to everything
    (422, 411, Rejected),
    (422, 412, Blocked),
    (422, 413, Blocked),
    (429, 429, SlowDown),
    (422, 701, Rejected),
    (500, 500, Unclear),
    (503, 503, Unclear),
    (422, 99999, Rejected),  # never seen: a 4xx took nothing, and a person looks
    (200, 99999, Unclear),  # never seen: nobody knows
    (500, 99999, Unclear),
]


@pytest.mark.parametrize(("status", "code", "expected"), ROWS)
def test_the_code_decides_before_the_status(status: int, code: int, expected: type[Answer]) -> None:
    answer = read(status, {}, orjson.dumps({"ErrorCode": code, "Message": "to ada@example.com"}))
    assert type(answer) is expected
    assert "@" not in repr(answer)
    assert str(code) in repr(answer)


def test_every_code_that_is_read_has_its_row() -> None:
    assert set(CODES) <= {code for _, code, _ in ROWS}


@pytest.mark.parametrize("code", [400, 401])
def test_an_unconfirmed_sender_stops_that_sender_alone(code: int) -> None:
    answer = read(422, {}, orjson.dumps({"ErrorCode": code}))
    assert isinstance(answer, Blocked)
    assert answer.scope is Scope.SENDER


@pytest.mark.parametrize(
    "body",
    [
        {"ErrorCode": 0, "Message": "OK", "MessageID": "id-1"},
        {"Message": "Accepted, delivery may be delayed", "MessageID": "id-1"},
        {"ErrorCode": 0, "Message": "OK, inactive@example.com is fine", "MessageID": "id-1"},
        {"ErrorCode": 0, "Message": None, "MessageID": "id-1"},
    ],
    ids=str,
)
def test_a_success_with_an_id_is_accepted(body: object) -> None:
    assert read(200, {}, orjson.dumps(body)) == Accepted("id-1")


@pytest.mark.parametrize(
    "text",
    [
        "Message OK, but will not deliver to these inactive addresses: ada@example.com.",
        "You tried to send to recipients that are Inactive: ada@example.com",
        "All recipients inactive.",
    ],
)
def test_a_success_that_will_not_deliver_is_a_refusal(text: str) -> None:
    body = {"ErrorCode": 0, "Message": text, "MessageID": "id-1"}
    assert isinstance(read(200, {}, orjson.dumps(body)), Refused)


@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"[]", b"null", b'{"MessageID": ""}', b'{"MessageID": 7}', b'{"MessageID": "id-'],
)
def test_a_success_without_an_id_is_unclear(body: bytes) -> None:
    assert isinstance(read(200, {}, body), Unclear)


def test_a_wall_before_the_provider_stops_the_account() -> None:
    """A 403 in HTML comes from the network's edge: not taken, and every mail would meet it."""
    assert isinstance(read(403, {}, b"<html>blocked</html>"), Blocked)


def test_a_mail_in_postmarks_words() -> None:
    adapter = Postmark(PostmarkOptions(token="secret"))  # type: ignore[arg-type]  # pydantic reads it
    tagged = mail(tags=("receipt", "eu"), options={"stream": "receipts"})
    ready = adapter.request(tagged)
    assert isinstance(ready, Prepared)
    assert ready.url == "https://api.postmarkapp.com/email"
    assert orjson.loads(ready.body) == {
        "From": '"Shop" <receipts@shop.example>',
        "To": '"Ada Byte" <ada@example.com>',
        "Subject": "Your receipt",
        "TextBody": "Thank you.\n",
        "HtmlBody": "<p>Thank you.</p>\n",
        "Headers": [
            {"Name": "Message-ID", "Value": f"<{KEY}@shop.example>"},
            {"Name": "X-PM-KeepID", "Value": "true"},
            {"Name": "Auto-Submitted", "Value": "auto-generated"},
        ],
        "Metadata": {"sendonce_key": KEY, "tag_2": "eu"},
        "MessageStream": "receipts",
        "Tag": "receipt",
        "TrackOpens": False,
        "TrackLinks": "None",
    }
    assert "secret" not in repr(ready)
    assert "secret" not in adapter.account
