"""SES's answers, one row a documented error type; and what its requests hold.

Sources: SendEmail's declared errors (botocore/data/sesv2/2019-09-27/service-2.json), and under
docs.aws.amazon.com/ses/latest the errors of every AWS API (APIReference/CommonErrors.html),
dg/manage-sending-quotas-errors.html and dg/troubleshoot-error-messages.html.
"""

from __future__ import annotations

import re
from typing import Any

import orjson
import pytest
from pydantic import ValidationError

from consumer.model import (
    Accepted,
    Address,
    Answer,
    Blocked,
    Prepared,
    Rejected,
    Scope,
    SlowDown,
    Transient,
    Unclear,
)
from consumer.providers.ses import Ses, SesOptions
from consumer.providers.ses_answers import TYPES, read
from tests.doubles.mails import KEY, mail

ROWS: list[tuple[int, str, type[Answer]]] = [
    # declared by SendEmail
    (429, "TooManyRequestsException", SlowDown),
    (400, "LimitExceededException", SlowDown),
    (400, "AccountSuspendedException", Blocked),
    (400, "SendingPausedException", Blocked),
    (400, "MailFromDomainNotVerifiedException", Blocked),
    (400, "MessageRejected", Rejected),
    (404, "NotFoundException", Blocked),  # no such configuration set
    (400, "BadRequestException", Rejected),
    # manage-sending-quotas-errors; other names of it: botocore/retries/standard.py
    (400, "ThrottlingException", SlowDown),
    (400, "Throttling", SlowDown),
    (400, "ThrottledException", SlowDown),
    (400, "RequestThrottled", SlowDown),
    (400, "RequestThrottledException", SlowDown),
    (503, "RequestLimitExceeded", SlowDown),
    (503, "SlowDown", SlowDown),
    # CommonErrors: credentials, signature, clock
    (403, "InvalidSignatureException", Blocked),
    (403, "SignatureDoesNotMatch", Blocked),
    (400, "IncompleteSignature", Blocked),
    (400, "IncompleteSignatureException", Blocked),
    (403, "MissingAuthenticationToken", Blocked),
    (403, "MissingAuthenticationTokenException", Blocked),
    (403, "UnrecognizedClientException", Blocked),
    (403, "InvalidClientTokenId", Blocked),
    (403, "ExpiredToken", Blocked),
    (403, "ExpiredTokenException", Blocked),
    (400, "RequestExpired", Blocked),
    (403, "OptInRequired", Blocked),
    (400, "NotAuthorized", Blocked),
    (404, "UnknownOperationException", Blocked),
    (400, "AccessDenied", Blocked),
    (403, "AccessDeniedException", Blocked),
    # CommonErrors: the request
    (400, "ValidationException", Rejected),
    (400, "ValidationError", Rejected),
    (400, "SerializationException", Rejected),
    (400, "InvalidParameterValue", Rejected),
    (400, "InvalidParameterCombination", Rejected),
    (400, "MissingParameter", Rejected),
    # CommonErrors: the server
    (503, "ServiceUnavailable", Transient),
    (503, "ServiceUnavailableException", Transient),
    (500, "InternalFailure", Unclear),
    (500, "InternalServerError", Unclear),
    (500, "InternalServiceErrorException", Unclear),
    (500, "InternalServerException", Unclear),
    (400, "RequestTimeout", Unclear),
    (400, "RequestTimeoutException", Unclear),
    # never seen
    (400, "NeverSeenException", Rejected),
    (403, "NeverSeenException", Blocked),
    (500, "NeverSeenException", Unclear),
    (200, "NeverSeenException", Unclear),
]
SENDERS_ALONE = {
    "MailFromDomainNotVerifiedException",
    "NotFoundException",
    "AccessDenied",
    "AccessDeniedException",
}


@pytest.mark.parametrize(("status", "kind", "expected"), ROWS)
def test_the_type_decides_before_the_status(status: int, kind: str, expected: type[Answer]) -> None:
    body = orjson.dumps({"message": "for ada@example.com"})
    answer = read(status, {"x-amzn-ErrorType": kind}, body)
    assert type(answer) is expected
    assert "@" not in repr(answer)
    if isinstance(answer, Blocked):
        assert (answer.scope is Scope.SENDER) == (kind in SENDERS_ALONE)


def test_every_type_that_is_read_has_its_row() -> None:
    assert set(TYPES) <= {kind for _, kind, _ in ROWS}


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"x-amzn-ErrorType": "ThrottlingException:http://internal.amazon.com/coral/x#y"}, {}),
        ({"x-amzn-ErrorType": "com.amazonaws.ses#ThrottlingException"}, {}),
        ({}, {"__type": "com.amazon.coral.availability#ThrottlingException"}),
        ({}, {"__type": "ThrottlingException"}),
        ({}, {"code": "ThrottlingException"}),
        ({"x-amzn-ErrorType": "ThrottlingException"}, {"__type": "BadRequestException"}),
    ],
)
def test_the_type_is_found_wherever_aws_puts_it(
    headers: dict[str, str], body: dict[str, str]
) -> None:
    answer = read(400, headers, orjson.dumps(body))
    assert answer == SlowDown("ses ThrottlingException, HTTP 400")


@pytest.mark.parametrize("member", ["message", "Message"])
def test_the_days_quota_is_no_matter_of_seconds(member: str) -> None:
    """The rate's and the day's limit have one type; what tells them apart is the sentence."""

    def throttled(sentence: str) -> Answer:
        body = {member: sentence}
        return read(400, {"x-amzn-ErrorType": "ThrottlingException"}, orjson.dumps(body))

    assert isinstance(throttled("Daily message quota exceeded."), Blocked)
    assert isinstance(throttled("Maximum sending rate exceeded."), SlowDown)


def test_an_identity_that_is_not_verified_stops_its_sender() -> None:
    """It would be refused for every mail: fifty dead letters say no more than one alert."""
    sentence = (
        "Email address is not verified. The following identities failed the check in region"
        " EU-CENTRAL-1: receipts@shop.example"
    )
    answer = read(400, {}, orjson.dumps({"__type": "MessageRejected", "message": sentence}))
    assert answer == Blocked("ses MessageRejected, HTTP 400", Scope.SENDER)


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_gateway_without_amazons_words_proves_nothing(status: int) -> None:
    assert isinstance(read(status, {}, b"<html>Service Unavailable</html>"), Unclear)


def test_the_id_is_the_acceptance() -> None:
    assert read(200, {}, b'{"MessageId": "0107"}') == Accepted("0107")
    assert isinstance(read(200, {}, b"{}"), Unclear)
    assert isinstance(read(200, {}, b'{"MessageId": '), Unclear)
    assert isinstance(read(202, {}, b'{"MessageId": "0107"}'), Unclear)


# ── Requests


def ses(**options: object) -> Ses:
    given = {"region": "eu-central-1", "access_key_id": "AKID", "secret_access_key": "secret"}
    return Ses(SesOptions.model_validate({**given, **options}))


def body_of(adapter: Ses, **changes: object) -> dict[str, Any]:
    ready = adapter.request(mail(**changes))
    assert isinstance(ready, Prepared)
    body: dict[str, Any] = orjson.loads(ready.body)
    return body


def test_the_key_travels_as_tag_and_as_header() -> None:
    body = body_of(ses(), tags=("order:1", "ü"))
    assert body["EmailTags"] == [
        {"Name": "sendonce_key", "Value": KEY},
        {"Name": "tag_1", "Value": "order_1"},
        {"Name": "tag_2", "Value": "_"},
    ]
    headers = {pair["Name"]: pair["Value"] for pair in body["Content"]["Simple"]["Headers"]}
    assert headers == {"x-ses-idempotency-key": KEY, "Auto-Submitted": "auto-generated"}


def test_a_mail_types_configuration_set_comes_before_the_providers() -> None:
    assert "ConfigurationSetName" not in body_of(ses())
    usual = ses(configuration_set="transactional")
    assert body_of(usual)["ConfigurationSetName"] == "transactional"
    own = body_of(usual, options={"configuration_set": "resets"})
    assert own["ConfigurationSetName"] == "resets"


@pytest.mark.parametrize("name", ["Zoë", "=?utf-8?q?x?=", "Zoë " * 40])
def test_a_name_that_is_not_plain_ascii_is_written_in_ascii(name: str) -> None:
    written = body_of(ses(), sender=Address("a@shop.example", name))["FromEmailAddress"]
    assert re.fullmatch(r"(=\?utf-8\?[bq]\?[ -~]+\?= )+<a@shop\.example>", written)


def test_a_long_plain_header_is_not_touched() -> None:
    """Encoded words would break `List-Unsubscribe` and its like."""
    link = f"<https://shop.example/u/{'x' * 200}>"
    headers = body_of(ses(), headers=(("List-Unsubscribe", link),))["Content"]["Simple"]["Headers"]
    assert {"Name": "List-Unsubscribe", "Value": link} in headers


@pytest.mark.parametrize(
    "headers",
    [
        tuple((f"X-{number}", "v") for number in range(15)),  # with our own: sixteen
        (("X-Long", "v" * 996),),
        (("X" * 100, "v" * 897),),
        (("X-Empty", ""),),
        (("X-Bell", "\a"),),
    ],
)
def test_what_is_over_the_models_limits_is_refused_before_the_claim(
    headers: tuple[tuple[str, str], ...],
) -> None:
    assert isinstance(ses().request(mail(headers=headers)), Rejected)


@pytest.mark.parametrize(
    ("region", "url"),
    [
        ("eu-central-1", "https://email.eu-central-1.amazonaws.com/v2/email/outbound-emails"),
        ("cn-north-1", "https://email.cn-north-1.amazonaws.com.cn/v2/email/outbound-emails"),
    ],
)
def test_the_endpoint_is_the_regions(region: str, url: str) -> None:
    ready = ses(region=region).request(mail())
    assert isinstance(ready, Prepared)
    assert ready.url == url


def test_half_a_credential_is_a_mistake() -> None:
    with pytest.raises(ValidationError, match="go together"):
        SesOptions.model_validate({"region": "eu-central-1", "access_key_id": "AKID"})


def test_no_secret_is_shown() -> None:
    adapter = ses(session_token="token")
    assert not re.search("secret|token", f"{adapter.account} {adapter._credentials._keys!r}")
