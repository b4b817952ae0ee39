"""Providers quote what they were sent. No word of it is in what is kept or told of an answer."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping

import orjson
import pytest

from consumer.model import Accepted, Answer
from consumer.providers import mailgun_answers, postmark, resend, sendgrid_answers, ses_answers
from consumer.providers.smtp_replies import Place, refusal

READERS: Mapping[str, Callable[[int, Mapping[str, str], bytes], Answer]] = {
    "mailgun": mailgun_answers.read,
    "postmark": postmark.read,
    "resend": resend.read,
    "sendgrid": sendgrid_answers.read,
    "ses": ses_answers.read,
}
STATUSES = (
    200, 202, 301, 307, 400, 401, 402, 403, 404, 405, 406, 408, 409, 411, 413, 415, 420, 421, 422,
    429, 451, 500, 501, 502, 503, 504, 507,
)  # fmt: skip
ECHO = "canary.person@example.com may not read https://x.example/?token=canary-token"
HEADERS: tuple[Mapping[str, str], ...] = (
    {},
    {"retry-after": ECHO, "location": ECHO, "x-amzn-errortype": ECHO, "x-amzn-requestid": ECHO},
)
BODIES: tuple[object, ...] = (
    ECHO,
    [ECHO],
    {"ErrorCode": 300, "Message": ECHO, "To": ECHO},
    {"ErrorCode": 406, "Message": ECHO},
    {"ErrorCode": ECHO, "Message": ECHO},
    {"message": ECHO},
    {"message": ECHO, "Message": ECHO, "__type": "MessageRejected"},
    {"message": ECHO, "__type": ECHO},
    {"statusCode": 422, "name": "validation_error", "message": ECHO},
    {"statusCode": ECHO, "name": ECHO, "message": ECHO},
    {"errors": [{"message": ECHO, "field": "personalizations.0.to", "help": ECHO}]},
    {"errors": [{"message": ECHO, "field": ECHO, "error_id": ECHO}]},
    {"error": ECHO, "id": None},
)
WIRE = (ECHO.encode(), f"<html>{ECHO}</html>".encode(), *map(orjson.dumps, BODIES))


@pytest.mark.parametrize("provider", READERS)
def test_no_answer_is_told_in_the_providers_words(provider: str) -> None:
    """Law: a code, a status, a name of ours; never a sentence, whatever it looks like."""
    read = READERS[provider]
    told = {
        repr(answer)
        for status, headers, body in itertools.product(STATUSES, HEADERS, WIRE)
        if not isinstance(answer := read(status, headers, body), Accepted)
    }
    assert len(told) > 20
    assert [one for one in told if "canary" in one] == []


@pytest.mark.parametrize("place", Place)
def test_no_reply_of_a_mail_server_is_told_in_its_words(place: Place) -> None:
    texts = (ECHO, f"5.1.1 {ECHO}", f"4.7.0 <{ECHO}>", f"5.7.1 {ECHO}\n5.7.1 {ECHO}")
    for code, text in itertools.product(
        (421, 432, 450, 451, 452, 454, 500, *range(530, 556)), texts
    ):
        assert "canary" not in repr(refusal(place, code, text))
