"""SendGrid's answers, one row a documented status and field, and what no page documents.

Sources, by the mark at the row's end:

    E   https://www.twilio.com/docs/sendgrid/api-reference/mail-send/errors
    R   .../sendgrid/api-reference/how-to-use-the-sendgrid-v3-api/responses
    S   https://github.com/twilio/sendgrid-oai, spec/yaml/tsg_mail_v3.yaml
    T   https://support.sendgrid.com/hc/en-us/articles/18322114821403 ("4XX API Errors")
    -   nobody: read the careful way round
"""

from __future__ import annotations

import orjson
import pytest
from multidict import CIMultiDict

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
from consumer.providers.sendgrid_answers import STATUSES, base_id, read

INVALID_KEY = "The provided authorization grant is invalid, expired, or revoked"
UNVERIFIED = "The from address does not match a verified Sender Identity."
TO = "personalizations.0.to"

ROWS: list[tuple[int, str | None, str, type[Answer]]] = [
    (400, f"{TO}.0.email", "Does not contain a valid address.", Refused),  # E
    (400, TO, "The to array is required for all personalization objects", Refused),  # E
    (400, "personalizations.0.custom_args", "values must be strings", Rejected),  # E
    (400, "personalizations", "limited to 1000 personalizations", Rejected),  # E
    (400, "subject", "must be a string at least one character in length", Rejected),  # E
    (400, "content.0.value", "text/plain needs to be first", Rejected),  # E
    (400, "headers", "Header can not be one of the reserved keys.", Rejected),  # E
    (400, "categories", "must be a unique list", Rejected),  # E
    (400, "from.email", "must have a valid email address", Blocked),  # E: of the settings
    (400, "ip_pool_name", "must be a valid pool name for your account", Blocked),  # E: likewise
    (400, None, "Bad Request", Rejected),  # T: malformed
    (400, "null", "invalid request", Rejected),  # S
    (401, None, "authorization required", Blocked),  # S
    (401, None, INVALID_KEY, Blocked),  # T
    (401, None, "Maximum credits exceeded", Blocked),  # T
    (401, None, "Authenticated user is not authorized", Blocked),  # T
    (403, "from", UNVERIFIED, Blocked),  # R
    (403, None, "You are temporarily blocked due to repeated bad requests", Blocked),  # R
    (403, None, "access forbidden", Blocked),  # S: a key without the right
    (404, None, "not found", Blocked),  # S
    (405, None, "method not allowed", Blocked),  # S
    (406, None, "Missing the Accept header", Blocked),  # R
    (413, None, "content too large", Rejected),  # S
    (415, None, "Unsupported media type", Blocked),  # E (2019)
    (429, None, "too many requests", SlowDown),  # R
    (500, None, "internal server error", Unclear),  # S; what became of the mail: -
    (503, None, "The SendGrid v3 Web API is not available.", Unclear),  # E (2019); likewise: -
    (200, None, "", Unclear),  # E (2019): the sandbox's answer, for which we never ask
    (201, None, "", Unclear),  # -
    (302, None, "", Unclear),  # -
    (408, None, "", Unclear),  # -: of a machine in between
    (418, None, "", Rejected),  # -: a 4xx took nothing, and a person looks
    (502, None, "", Unclear),  # -
]


def body(*errors: tuple[str | None, str]) -> bytes:
    given = [{"field": field, "message": text, "help": None} for field, text in errors]
    return orjson.dumps({"errors": given})


@pytest.mark.parametrize(("status", "field", "text", "expected"), ROWS)
def test_status_and_field_say_what_an_answer_proves(
    status: int, field: str | None, text: str, expected: type[Answer]
) -> None:
    answer = read(status, {}, body((field, f"{text} ada@example.com")))
    assert type(answer) is expected
    assert "@" not in repr(answer)
    assert f"HTTP {status}" in repr(answer)


def test_every_status_that_is_read_has_its_row() -> None:
    assert set(STATUSES) <= {status for status, *_ in ROWS}


@pytest.mark.parametrize(
    ("status", "field", "text"),
    [
        (403, "from", ""),
        (403, None, UNVERIFIED),
        (400, "from.email", ""),
        (400, "from", ""),
        (400, "ip_pool_name", ""),
    ],
)
def test_what_is_wrong_with_a_sender_stops_that_sender_alone(
    status: int, field: str | None, text: str
) -> None:
    answer = read(status, {}, body((field, text)))
    assert isinstance(answer, Blocked)
    assert answer.scope is Scope.SENDER


@pytest.mark.parametrize("status", [401, 403, 404, 405, 406, 415])
def test_what_every_mail_would_meet_stops_the_account(status: int) -> None:
    for said in (body((None, "access forbidden")), b"", b"<html>blocked</html>"):
        answer = read(status, {}, said)
        assert isinstance(answer, Blocked)
        assert answer.scope is Scope.ACCOUNT


def test_spent_credits_are_told_from_a_bad_key() -> None:
    spent = read(401, {}, body((None, "Maximum credits exceeded")))
    assert spent == Blocked("sendgrid credits, HTTP 401")
    assert read(401, {}, body((None, INVALID_KEY))) == Blocked("sendgrid HTTP 401")


def test_a_recipient_is_refused_only_if_nothing_else_was_wrong() -> None:
    both = body((f"{TO}.0.email", ""), ("subject", ""))
    assert isinstance(read(400, {}, both), Rejected)


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"[]",
        b"null",
        b'{"errors": null}',
        b'{"errors": ["x"]}',
        b'{"errors": [{"field": []}]}',
    ],
)
def test_a_400_that_names_nothing_is_a_rejection(said: bytes) -> None:
    assert isinstance(read(400, {}, said), Rejected)


# ── What is taken


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("14c5d75ce93", "14c5d75ce93"),
        (" 14c5d75ce93 ", "14c5d75ce93"),
        ("14c5d75ce93.filter0001.16648.5515E0B88.0", "14c5d75ce93"),
        (
            "oEFJhQ8ORt6N_-TjWKmlY6g.recvd-6d4864cb4-hglw4-1-6A9850E6-10.0",
            "oEFJhQ8ORt6N_-TjWKmlY6g",
        ),
    ],
)
def test_an_id_is_kept_in_the_form_that_webhooks_share(said: str, kept: str) -> None:
    """Sending gives the part before the first dot; searching and webhooks give more."""
    assert read(202, CIMultiDict({"x-message-id": said}), b"") == Accepted(kept)
    assert base_id(said) == kept


@pytest.mark.parametrize("headers", [{}, {"X-Message-Id": ""}, {"X-Message-Id": ".x"}])
def test_a_success_without_an_id_is_unclear(headers: dict[str, str]) -> None:
    assert isinstance(read(202, headers, b""), Unclear)


def test_the_id_of_another_status_proves_nothing() -> None:
    assert isinstance(read(200, {"X-Message-Id": "abc"}, b""), Unclear)
    assert isinstance(read(500, {"X-Message-Id": "abc"}, b""), Unclear)


# ── How long to wait

NOON = {"Date": "Wed, 19 Feb 2014 13:07:13 GMT"}  # 1392815233


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({**NOON, "X-RateLimit-Reset": "1392815263"}, 30.0),
        ({**NOON, "X-RateLimit-Reset": "1392815203"}, 0.0),  # over
        ({**NOON, "X-RateLimit-Reset": "1999999999"}, 3600.0),  # the cap
        ({"X-RateLimit-Reset": "1392815263"}, None),  # without their clock it says nothing
        ({**NOON, "X-RateLimit-Reset": "60"}, None),  # no instant
        ({**NOON, "X-RateLimit-Reset": "soon"}, None),
        ({**NOON, "X-RateLimit-Reset": "1392815263", "Retry-After": "2"}, 2.0),
        ({}, None),
    ],
)
def test_the_limit_is_renewed_by_their_clock_never_by_ours(
    headers: dict[str, str], wait: float | None
) -> None:
    answer = read(429, CIMultiDict(headers), body((None, "too many requests")))
    assert isinstance(answer, SlowDown)
    assert answer.retry_after == wait
