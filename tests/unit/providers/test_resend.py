"""Resend's answers, one row a documented name.

Sources: https://resend.com/docs/api-reference/errors,
https://resend.com/docs/dashboard/emails/idempotency-keys
"""

from __future__ import annotations

import orjson
import pytest

from consumer.model import (
    Accepted,
    Answer,
    Blocked,
    Prepared,
    Rejected,
    Scope,
    SlowDown,
    Unclear,
)
from consumer.providers.resend import NAMES, Resend, ResendOptions, read
from tests.doubles.mails import KEY, mail

ROWS: list[tuple[int, str, type[Answer]]] = [
    (400, "validation_error", Rejected),
    (422, "validation_error", Rejected),
    (403, "validation_error", Blocked),  # domain not verified, or still in test mode
    (400, "invalid_idempotency_key", Rejected),
    (401, "missing_api_key", Blocked),
    (401, "restricted_api_key", Blocked),
    (403, "invalid_api_key", Blocked),
    (404, "not_found", Blocked),
    (405, "method_not_allowed", Blocked),
    (422, "invalid_from_address", Blocked),
    (422, "missing_required_field", Rejected),
    (422, "invalid_attachment", Rejected),
    (422, "invalid_parameter", Rejected),
    (451, "security_error", Rejected),
    (429, "rate_limit_exceeded", SlowDown),
    (429, "daily_quota_exceeded", Blocked),
    (429, "monthly_quota_exceeded", Blocked),
    (409, "concurrent_idempotent_requests", Unclear),
    (409, "invalid_idempotent_request", Unclear),
    (500, "application_error", Unclear),
    (500, "internal_server_error", Unclear),
    (422, "never_seen", Rejected),
    (500, "never_seen", Unclear),
    (200, "never_seen", Unclear),
]


@pytest.mark.parametrize(("status", "name", "expected"), ROWS)
def test_the_name_decides_before_the_status(status: int, name: str, expected: type[Answer]) -> None:
    body = {"statusCode": status, "name": name, "message": "for ada@example.com"}
    answer = read(status, {}, orjson.dumps(body))
    assert type(answer) is expected
    assert "@" not in repr(answer)


def test_every_name_that_is_read_has_its_row() -> None:
    assert set(NAMES) <= {name for _, name, _ in ROWS}


def test_an_unverified_domain_stops_its_sender_alone() -> None:
    answer = read(403, {}, orjson.dumps({"name": "validation_error"}))
    assert answer == Blocked("resend validation_error, HTTP 403", Scope.SENDER)


@pytest.mark.parametrize("name", ["concurrent_idempotent_requests", "rate_limit_exceeded"])
def test_resend_says_when_to_come_again(name: str) -> None:
    answer = read(409, {"Retry-After": "3"}, orjson.dumps({"name": name}))
    assert isinstance(answer, Unclear | SlowDown)
    assert answer.retry_after == 3


def test_a_sentence_in_the_place_of_a_name_is_not_repeated() -> None:
    answer = read(422, {}, orjson.dumps({"name": "no such ada@example.com"}))
    assert answer == Rejected("resend HTTP 422")


def test_the_id_is_the_acceptance() -> None:
    assert read(200, {}, b'{"id": "abc"}') == Accepted("abc")
    assert isinstance(read(200, {}, b"{}"), Unclear)
    assert isinstance(read(202, {}, b'{"id": "abc"}'), Unclear)  # a status nobody documents


def test_the_key_travels_as_idempotency_key_and_as_tag() -> None:
    adapter = Resend(ResendOptions(api_key="secret"))  # type: ignore[arg-type]  # pydantic reads it
    ready = adapter.request(mail(tags=("order:1",)))
    assert isinstance(ready, Prepared)
    assert ready.headers["Idempotency-Key"] == KEY
    assert orjson.loads(ready.body)["tags"] == [
        {"name": "sendonce_key", "value": KEY},
        {"name": "tag_1", "value": "order_1"},
    ]
    assert "secret" not in repr(ready)
