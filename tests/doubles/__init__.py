"""Strict, countable stand-ins for the providers' APIs: in process, or `python -m tests.doubles`."""

from __future__ import annotations

from collections.abc import Callable

from tests.doubles.api import Api
from tests.doubles.mailgun import MailgunApi
from tests.doubles.postmark import PostmarkApi
from tests.doubles.resend import ResendApi
from tests.doubles.sendgrid import SendGridApi
from tests.doubles.ses import SesApi

APIS: dict[str, Callable[[], Api]] = {
    "mailgun": MailgunApi,
    "postmark": PostmarkApi,
    "resend": ResendApi,
    "sendgrid": SendGridApi,
    "ses": SesApi,
}
