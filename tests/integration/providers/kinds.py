"""The adapters under test: a new provider is one more line in KINDS."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final, Protocol

import orjson

from consumer.model import (
    Answer,
    Blocked,
    Refused,
    Rejected,
    SlowDown,
    Transient,
    Unclear,
)
from tests.doubles.engine import Double
from tests.doubles.ledger import Ledger
from tests.doubles.mailgun import MailgunApi
from tests.doubles.postmark import PostmarkApi
from tests.doubles.resend import ResendApi
from tests.doubles.script import Fault, Script
from tests.doubles.sendgrid import SendGridApi
from tests.doubles.ses import SesApi
from tests.doubles.smtp import SmtpDouble


class AnyDouble(Protocol):
    """What the suite asks of a double, whatever it speaks."""

    ledger: Ledger
    script: Script
    arrived: asyncio.Event  # set whenever a request was read
    took: asyncio.Event  # set whenever a mail was taken

    @property
    def options(self) -> Mapping[str, object]: ...


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    start: Callable[[], AbstractAsyncContextManager[AnyDouble]]
    errors: Mapping[type[Answer], Fault]  # one documented answer of each class that it has
    http: bool = True
    takes_utf8_local: bool = False


def said(status: int, body: object, headers: Mapping[str, str] | None = None) -> Fault:
    return Fault("status", status=status, body=orjson.dumps(body).decode(), headers=headers or {})


def replied(code: int, text: str, at: str) -> Fault:
    return Fault("status", status=code, body=text, headers={"at": at})


MAILGUN: Final = Kind(
    "mailgun",
    lambda: Double(MailgunApi()),
    {
        SlowDown: said(420, {"message": "limit exceeded, try again after 2 seconds"}),
        Refused: said(400, {"message": "to parameter is not a valid address: ada@example.com"}),
        Rejected: said(400, {"message": "Header name must be pure ASCII: ada@example.com"}),
        Blocked: Fault("status", status=401, body="Forbidden"),
        Unclear: said(500, {"message": "Internal Server Error"}),
    },
)
POSTMARK: Final = Kind(
    "postmark",
    lambda: Double(PostmarkApi()),
    {
        Transient: said(503, {"ErrorCode": 100, "Message": "Maintenance"}),
        SlowDown: said(429, {"ErrorCode": 429, "Message": "Rate"}, {"Retry-After": "2"}),
        Refused: said(422, {"ErrorCode": 406, "Message": "Inactive: ada@example.com"}),
        Rejected: said(422, {"ErrorCode": 300, "Message": "Invalid: ada@example.com"}),
        Blocked: said(401, {"ErrorCode": 10, "Message": "Bad token"}),
        Unclear: Fault("status", status=500),
    },
)
RESEND: Final = Kind(
    "resend",
    lambda: Double(ResendApi()),
    {
        SlowDown: said(429, {"name": "rate_limit_exceeded"}, {"retry-after": "2"}),
        Rejected: said(422, {"name": "invalid_parameter", "message": "ada@example.com"}),
        Blocked: said(403, {"name": "invalid_api_key"}),
        Unclear: said(500, {"name": "application_error"}),
    },
)
SENDGRID: Final = Kind(
    "sendgrid",
    lambda: Double(SendGridApi()),
    {
        SlowDown: said(429, {"errors": [{"message": "too many requests"}]}, {"Retry-After": "2"}),
        Refused: said(400, {"errors": [{"field": "personalizations.0.to.0.email"}]}),
        Rejected: said(400, {"errors": [{"field": "subject", "message": "ada@example.com"}]}),
        Blocked: said(401, {"errors": [{"message": "Maximum credits exceeded"}]}),
        Unclear: Fault("status", status=503),
    },
)
SES: Final = Kind(
    "ses",
    lambda: Double(SesApi()),
    {
        Transient: said(503, {"message": "for now"}, {"x-amzn-ErrorType": "ServiceUnavailable"}),
        SlowDown: said(400, {"__type": "ThrottlingException", "message": "Maximum sending rate"}),
        Rejected: said(400, {"__type": "MessageRejected", "message": "ada@example.com"}),
        Blocked: said(400, {"__type": "AccountSuspendedException"}),
        Unclear: said(500, {"__type": "InternalServiceErrorException"}),
    },
)
SMTP: Final = Kind(
    "smtp",
    SmtpDouble,
    {
        Transient: replied(451, "4.3.0 for ada@example.com", "end"),
        SlowDown: replied(454, "Throttling failure: Maximum sending rate exceeded", "end"),
        Refused: replied(550, "5.1.1 <ada@example.com> is nobody", "rcpt"),
        Rejected: replied(554, "5.6.0 not this one", "end"),
        Blocked: replied(553, "5.7.1 receipts@shop.example is not yours", "mail"),
    },
    http=False,
    takes_utf8_local=True,
)

KINDS: Final = (MAILGUN, POSTMARK, RESEND, SENDGRID, SES, SMTP)
