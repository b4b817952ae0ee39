"""A mail as Mailgun's form, and the settings that say where it goes."""

from __future__ import annotations

from email import message_from_bytes
from email.message import EmailMessage
from email.policy import HTTP

import pytest
from pydantic import ValidationError

from consumer.model import Address, Prepared, Rejected
from consumer.providers.mailgun import SEND_OPTIONS_LIMIT, Mailgun, MailgunOptions
from tests.doubles.mails import KEY, MAIL, mail


def mailgun(**options: object) -> Mailgun:
    given = {"api_key": "secret", "domain": "mg.example", **options}
    return Mailgun(MailgunOptions.model_validate(given))


def form(adapter: Mailgun, **changes: object) -> list[tuple[str, str]]:
    ready = adapter.request(mail(**changes))
    assert isinstance(ready, Prepared)
    return fields(ready)


def fields(ready: Prepared) -> list[tuple[str, str]]:
    """Read a form as the standard library does."""
    head = f"Content-Type: {ready.headers['Content-Type']}\r\n\r\n".encode()
    parts = message_from_bytes(head + ready.body, policy=HTTP).iter_parts()
    return [
        (str(part.get_param("name", header="content-disposition")), _text(part)) for part in parts
    ]


def _text(part: object) -> str:
    assert isinstance(part, EmailMessage)
    value = part.get_payload(decode=True)
    assert isinstance(value, bytes)
    return value.decode()


def test_a_mail_in_mailguns_words() -> None:
    told = form(
        mailgun(), tags=("receipt", "eu"), options={"ip_pool": "p1"}, reply_to=Address("help@x.eu")
    )
    assert told == [
        ("from", '"Shop" <receipts@shop.example>'),
        ("to", '"Ada Byte" <ada@example.com>'),
        ("subject", "Your receipt"),
        ("text", "Thank you.\n"),
        ("html", "<p>Thank you.</p>\n"),
        ("v:sendonce_key", KEY),
        ("h:Message-Id", f"<{KEY}@shop.example>"),
        ("h:Reply-To", "help@x.eu"),
        ("h:Auto-Submitted", "auto-generated"),
        ("o:tag", "receipt"),
        ("o:tag", "eu"),
        ("o:sending-ip-pool", "p1"),
        ("o:tracking", "no"),
        ("o:tracking-opens", "no"),
        ("o:tracking-clicks", "no"),
    ]


def test_it_is_a_form_and_says_so() -> None:
    ready = mailgun().request(MAIL)
    assert isinstance(ready, Prepared)
    assert ready.url == "https://api.mailgun.net/v3/mg.example/messages"
    assert set(ready.headers) == {"Content-Type"}
    assert ready.headers["Content-Type"].startswith("multipart/form-data; boundary=")
    assert "secret" not in repr(ready)


async def test_the_user_is_called_api() -> None:
    adapter = mailgun()
    ready = adapter.request(MAIL)
    assert isinstance(ready, Prepared)
    assert await adapter.sign(ready) == {"Authorization": "Basic YXBpOnNlY3JldA=="}


@pytest.mark.parametrize(
    ("opens", "clicks", "expected"),
    [(True, False, ["yes", "yes", "no"]), (False, True, ["yes", "no", "yes"])],
)
def test_tracking_is_on_only_where_the_mail_says_so(
    opens: bool,  # noqa: FBT001 - a case
    clicks: bool,  # noqa: FBT001 - a case
    expected: list[str],
) -> None:
    fields = dict(form(mailgun(), track_opens=opens, track_clicks=clicks))
    names = ("o:tracking", "o:tracking-opens", "o:tracking-clicks")
    assert [fields[name] for name in names] == expected


def test_tags_are_made_to_fit() -> None:
    fields = form(mailgun(), tags=("größe", "x" * 200, "", "late"))
    assert [value for name, value in fields if name == "o:tag"] == ["gr__e", "x" * 128]


def test_send_options_have_a_limit_together() -> None:
    def asked(size: int) -> object:
        return mailgun().request(mail(headers=(("X-A", "x" * size),)))

    assert isinstance(asked(SEND_OPTIONS_LIMIT), Rejected)
    assert isinstance(asked(SEND_OPTIONS_LIMIT - 500), Prepared)


# ── The options


@pytest.mark.parametrize(
    ("options", "url"),
    [
        ({}, "https://api.mailgun.net/v3/mg.example/messages"),
        ({"region": "eu"}, "https://api.eu.mailgun.net/v3/mg.example/messages"),
        ({"base_url": "http://localhost:1/"}, "http://localhost:1/v3/mg.example/messages"),
    ],
)
def test_the_door_is_the_regions(options: dict[str, object], url: str) -> None:
    ready = mailgun(**options).request(MAIL)
    assert isinstance(ready, Prepared)
    assert ready.url == url


@pytest.mark.parametrize(
    "options",
    [{"region": "mars"}, {"domain": ""}, {"domain": "a/b"}, {"domain": "a?b"}, {"domain": "a@b"}],
)
def test_a_wrong_region_or_domain_is_told(options: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        mailgun(**options)


def test_an_account_is_its_domain_or_its_name_and_never_its_key() -> None:
    assert mailgun().account == "mailgun:us/mg.example"
    assert mailgun(region="eu").account == "mailgun:eu/mg.example"
    assert mailgun(account="main").account == "mailgun:main"


def test_events_are_asked_only_with_a_key_that_may_read_them() -> None:
    """A sending key would never learn anything, and never be done with asking."""
    assert mailgun().search is None
    assert mailgun(read_events=True).search is not None


@pytest.mark.parametrize(
    "text", ["--", "\r\n--x\r\n", "Größe: 5 €\n", "a\n\n--\nb\n", "\N{GRINNING FACE}"]
)
def test_no_value_ends_its_part_early(text: str) -> None:
    """And the bytes are the same on every machine, at every repeat."""
    ready, again = (mailgun().request(mail(text=text)) for _ in range(2))
    assert isinstance(ready, Prepared)
    assert ready == again
    assert dict(fields(ready))["text"] == text
