"""Mailgun's answers, one row a documented answer with its source, and what no page documents.

A     https://documentation.mailgun.com/docs/mailgun/quickstart-guide/responses
B     the API's own description: mailgun/mailgun-mcp-server, src/openapi.yaml
#     an issue on GitHub
"""

from __future__ import annotations

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from consumer.model import (
    Accepted,
    Answer,
    Blocked,
    Refused,
    Rejected,
    Scope,
    SlowDown,
    Unclear,
)
from consumer.providers.mailgun_answers import read
from tests.doubles.mails import KEY

BAD_TO = "to parameter is not a valid address. please check documentation."
BAD_FROM = "'from' parameter is not a valid address. please check documentation"
TOO_FAST = "account-requests-per-sec limit exceeded, try again after 120 seconds"
TOO_MANY = "recipient limit exceeded, try again after Mon, 25 Aug 2025 07:00:31 UTC"
NOT_ALLOWED = "Domain mg.example is not allowed to send: "
SANDBOX = "Sandbox subdomains are for test purposes only. Please add your own domain"

ROWS: list[tuple[int, str, type[Answer]]] = [
    (400, BAD_TO, Refused),  # B
    (400, f"'{BAD_TO[:2]}'{BAD_TO[2:]}", Refused),  # mailgun/mailgun-js-boland #199: quoted
    (400, BAD_FROM, Blocked),  # fastlane/fastlane #8568
    (400, "from parameter is missing", Rejected),  # B
    (400, "Need at least one of 'text', 'html', 'amp-html' or 'template'", Rejected),  # B
    (
        400,
        "Send options (parameters starting with o:) are limited to 16KB",
        Rejected,
    ),  # B
    (400, NOT_ALLOWED + SANDBOX, Blocked),  # of older days, unconfirmed
    (401, "Forbidden", Blocked),  # B: wrong key, and a key of another region
    (402, "Payment required", Blocked),  # A: by its class; no page says more
    (403, NOT_ALLOWED + SANDBOX, Blocked),  # theoomoregbee/US-visa-appointment-notifier #5
    (403, "access denied", Blocked),  # A
    (404, "Domain not found: mg.example", Blocked),  # A: wrong, or not yet known everywhere
    (413, "Request Entity Too Large", Rejected),  # unconfirmed; 25 MB, which no mail here has
    (420, NOT_ALLOWED + TOO_MANY, SlowDown),  # mailgun/mailgun-java #50
    (429, NOT_ALLOWED + TOO_FAST, SlowDown),  # B
    (500, "Internal Server Error", Unclear),  # B; A recommends to retry, and promises nothing
    (400, "no one has ever seen this", Rejected),
    (418, "nor this", Rejected),
    (409, "nor this", Unclear),
    (502, "Bad Gateway", Unclear),
    (503, "Service Unavailable", Unclear),
    (504, "Gateway Timeout", Unclear),
    (202, "Queued. Thank you.", Unclear),
    (307, "", Unclear),
]


@pytest.mark.parametrize(("status", "sentence", "expected"), ROWS)
def test_an_answer_is_read_as_what_it_proves(
    status: int, sentence: str, expected: type[Answer]
) -> None:
    answer = read(status, {}, orjson.dumps({"message": f"{sentence} ada@example.com"}))
    assert type(answer) is expected
    assert "@" not in repr(answer)


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (401, b"Forbidden", Blocked),  # B: not JSON
        (404, b"404 page not found", Blocked),  # A: no JSON means a wrong URL
        (413, b"<html>too large</html>", Rejected),
        (429, b"", SlowDown),
        (400, b'{"message": "to param', Rejected),  # cut short
        (400, b'{"message": ["to parameter is not a valid address"]}', Rejected),
        (500, b"<html>", Unclear),
    ],
)
def test_an_answer_that_is_not_json_is_read_by_its_status(
    status: int, body: bytes, expected: type[Answer]
) -> None:
    assert type(read(status, {}, body)) is expected


def test_an_invalid_sender_stops_that_sender_alone() -> None:
    answer = read(400, {}, orjson.dumps({"message": BAD_FROM}))
    assert answer == Blocked("mailgun from, HTTP 400", Scope.SENDER)


def test_a_sentence_counts_only_where_it_begins() -> None:
    """A text of ours that Mailgun quotes must not make a refusal of a mistake."""
    quoting = {"message": f"Header name must be pure ASCII: {BAD_TO}"}
    assert isinstance(read(400, {}, orjson.dumps(quoting)), Rejected)


@pytest.mark.parametrize(
    ("sentence", "headers", "expected"),
    [
        (TOO_FAST, {}, 120.0),
        (TOO_MANY, {"Date": "Mon, 25 Aug 2025 07:00:01 GMT"}, 30.0),
        (TOO_MANY, {}, None),  # our clock is never asked
        (TOO_FAST, {"Retry-After": "7"}, 7.0),
        ("limit exceeded, try again after lunch", {}, None),
        ("limit exceeded, try again after 999999999 seconds", {}, 3600.0),
        ("slower", {"Retry-After": "7"}, 7.0),
        ("slower", {}, None),
    ],
)
def test_when_to_come_again_stands_in_the_sentence(
    sentence: str, headers: dict[str, str], expected: float | None
) -> None:
    answer = read(429, headers, orjson.dumps({"message": NOT_ALLOWED + sentence}))
    assert answer == SlowDown("mailgun HTTP 429", expected)


@pytest.mark.parametrize("given_id", [f"<{KEY}@shop.example>", f"{KEY}@shop.example"])
def test_a_success_is_accepted_under_the_bare_id(given_id: str) -> None:
    """Answers have brackets, events and webhooks have none: one mail, one id."""
    body = orjson.dumps({"id": given_id, "message": "Queued. Thank you."})
    assert read(200, {}, body) == Accepted(f"{KEY}@shop.example")


@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"[]", b"null", b'{"id": ""}', b'{"id": "<>"}', b'{"id": 7}', b'{"id": "<a@'],
)
def test_a_success_without_an_id_is_unclear(body: bytes) -> None:
    assert isinstance(read(200, {}, body), Unclear)


@given(st.integers(100, 999), st.binary())
@example(400, b'{"message": null}')
@example(429, b'{"message": "try again after "}')
def test_no_answer_breaks_its_reader(status: int, body: bytes) -> None:
    answer = read(status, {}, body)
    assert status == 200 or not isinstance(answer, Accepted)
