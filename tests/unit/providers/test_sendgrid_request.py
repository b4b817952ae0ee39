"""A mail in SendGrid's words, and its search: what is said, and what never is."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
import pytest
from pydantic import ValidationError

from consumer.model import Address, Message, Prepared, Rejected
from consumer.providers import Absent, Found, SendGridOptions, Unasked
from consumer.providers.sendgrid import SendGrid
from consumer.providers.sendgrid_search import SendGridSearch
from tests.doubles.mails import KEY, MAIL, mail


def adapter(**options: object) -> SendGrid:
    return SendGrid(SendGridOptions.model_validate({"api_key": "SG.secret", **options}))


def said(message: Message) -> dict[str, Any]:
    ready = adapter().request(message)
    assert isinstance(ready, Prepared)
    body: dict[str, Any] = orjson.loads(ready.body)
    return body


def test_a_mail_in_sendgrids_words() -> None:
    tagged = mail(
        tags=("receipt", "eu"),
        options={"ip_pool": "receipts", "stream": "x"},
        reply_to=Address("help@shop.example"),
    )
    ready = adapter().request(tagged)
    assert isinstance(ready, Prepared)
    assert ready.url == "https://api.sendgrid.com/v3/mail/send"
    assert ready.headers == {"Accept": "application/json", "Content-Type": "application/json"}
    assert orjson.loads(ready.body) == {
        "personalizations": [
            {
                "to": [{"email": "ada@example.com", "name": "Ada Byte"}],
                "custom_args": {"sendonce_key": KEY},
            }
        ],
        "from": {"email": "receipts@shop.example", "name": "Shop"},
        "reply_to": {"email": "help@shop.example"},
        "subject": "Your receipt",
        "content": [
            {"type": "text/plain", "value": "Thank you.\n"},
            {"type": "text/html", "value": "<p>Thank you.</p>\n"},
        ],
        "headers": {
            "Message-ID": f"<{KEY}@shop.example>",
            "Auto-Submitted": "auto-generated",
        },
        "categories": ["receipt", "eu"],
        "ip_pool_name": "receipts",
        "tracking_settings": {
            "click_tracking": {"enable": False, "enable_text": False},
            "open_tracking": {"enable": False},
            "subscription_tracking": {"enable": False},
            "ganalytics": {"enable": False},
        },
    }


async def test_the_key_to_the_account_shows_nowhere_but_in_its_header() -> None:
    sendgrid = adapter()
    ready = sendgrid.request(MAIL)
    assert isinstance(ready, Prepared)
    assert "secret" not in repr(ready) + sendgrid.account
    assert await sendgrid.sign(ready) == {"Authorization": "Bearer SG.secret"}


def test_tracking_is_on_only_where_the_mail_says_so() -> None:
    tracking = said(mail(track_clicks=True, track_opens=True))["tracking_settings"]
    assert tracking["click_tracking"] == {"enable": True, "enable_text": True}
    assert tracking["open_tracking"] == {"enable": True}
    assert tracking["subscription_tracking"] == {"enable": False}


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("Byte, Ada", "Byte Ada"),
        ('Attn: "Ada"; bob@example.com <x>', "Attn Ada bob example.com x"),
        ("Zoë Ångström Jr.", "Zoë Ångström Jr."),
        (",", None),
        ("", None),
    ],
)
def test_a_recipients_name_cannot_be_read_as_an_address(name: str, sent: str | None) -> None:
    message = mail(to=Address("ada@example.com", name), sender=Address("a@shop.example", name))
    assert said(message)["personalizations"][0]["to"][0].get("name") == sent
    assert said(message)["from"].get("name", "") == name


@pytest.mark.parametrize("name", ["X-SG-ID", "x-sg-eid", "Received", "DKIM-Signature", "X-SMTPAPI"])
def test_a_header_that_cannot_be_set_never_is(name: str) -> None:
    assert isinstance(adapter().request(mail(headers=((name, "x"),))), Rejected)


def test_a_header_that_is_there_twice_is_refused_and_not_dropped() -> None:
    assert isinstance(adapter().request(mail(headers=(("X-A", "1"), ("x-a", "2")))), Rejected)


def test_a_header_outside_ascii_is_encoded_on_one_line() -> None:
    value = said(mail(headers=(("X-Shop", "Käse " * 40),)))["headers"]["X-Shop"]
    assert value.isascii()
    assert value.startswith("=?utf-8?")
    assert "\n" not in value


def test_categories_are_ten_different_ones_in_ascii() -> None:
    tags = ("é" * 300, "receipt", "receipt", "", *(f"t{number}" for number in range(20)))
    categories = said(mail(tags=tags))["categories"]
    assert categories == ["_" * 255, "receipt", *(f"t{number}" for number in range(8))]


def test_an_empty_part_is_left_out() -> None:
    assert [part["type"] for part in said(mail(text=""))["content"]] == ["text/html"]


# ── Email Activity


def test_email_activity_is_asked_only_where_it_was_bought() -> None:
    assert adapter().search is None
    assert isinstance(adapter(activity=True).search, SendGridSearch)


def test_email_activity_of_eu_subusers_is_a_mistake() -> None:
    """It holds none of their mails: each would seem absent."""
    eu = {"api_key": "k", "base_url": "https://api.eu.sendgrid.com/"}
    assert SendGridOptions.model_validate(eu).activity is False
    with pytest.raises(ValidationError, match="EU subusers"):
        SendGridOptions.model_validate({**eu, "activity": True})


SEARCH = SendGridSearch("https://api.sendgrid.com", {"Authorization": "Bearer k"})


def test_a_mail_is_looked_for_by_our_key() -> None:
    question = SEARCH.question(MAIL)
    address = urlsplit(question.url)
    assert (address.netloc, address.path) == ("api.sendgrid.com", "/v3/messages")
    assert parse_qs(address.query) == {
        "limit": ["10"],
        "query": [f"(unique_args['sendonce_key']=\"{KEY}\")"],
    }
    assert question.headers["Authorization"] == "Bearer k"


def found(*messages: object) -> bytes:
    return orjson.dumps({"messages": messages})


OURS = {"msg_id": "abc.recvd-1.0", "to_email": "Ada@example.com"}
OTHER = {"msg_id": "def.recvd-1.0", "to_email": "bob@example.com"}


def test_what_is_found_is_the_oldest_of_our_recipient_under_the_shared_id() -> None:
    newer = {**OURS, "msg_id": "ghi.recvd-1.0"}
    assert SEARCH.sighting(MAIL, 200, found(newer, OURS, OTHER)) == Found("abc")


def test_absence_is_seen_and_proves_nothing() -> None:
    assert SEARCH.sighting(MAIL, 200, found()) == Absent()
    assert SEARCH.absence_proves is False
    assert SEARCH.visible_after >= 60


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
def test_a_question_that_was_not_answered_is_not_absence(status: int) -> None:
    assert isinstance(SEARCH.sighting(MAIL, status, found()), Unasked)


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{}", b'{"messages": null}', b"[]", found({}), found(1), found(OTHER)),
        *(found({**OURS, "msg_id": None}), found({**OURS, "msg_id": ""})),
    ],
)
def test_an_answer_that_names_no_mail_of_ours_is_neither(body: bytes) -> None:
    assert isinstance(SEARCH.sighting(MAIL, 200, body), Unasked)
