"""Opens and clicks are tracked where the mail type says so, and each request says what it wants.

What a request leaves out, the account's own settings decide: so nothing is left out. Resend has no
such member, and SMTP knows no tracking.
"""

from __future__ import annotations

from email import message_from_bytes
from email.policy import HTTP
from itertools import product
from typing import Any

import orjson
import pytest

from consumer.model import Message, Prepared
from tests.doubles.mails import mail
from tests.integration.providers.conftest import Stage


def said(stage: Stage, message: Message) -> dict[str, Any]:
    """Return the members of a request, of a form as of JSON."""
    ready = stage.provider.prepare(message)
    assert isinstance(ready, Prepared)
    if stage.kind.name != "mailgun":
        body: dict[str, Any] = orjson.loads(ready.body)
        return body
    kind = ready.headers["Content-Type"].encode()
    form = message_from_bytes(b"Content-Type: " + kind + b"\r\n\r\n" + ready.body, policy=HTTP)
    return {
        str(part.get_param("name", header="content-disposition")): part.get_payload()
        for part in form.iter_parts()
    }


def switches(stage: Stage, message: Message) -> tuple[object, object]:
    """Return how opens and clicks are said to be tracked; True, False, or None: not said."""
    body = said(stage, message)
    match stage.kind.name:
        case "postmark":
            return body["TrackOpens"], {"None": False, "HtmlAndText": True}[body["TrackLinks"]]
        case "mailgun":
            either = body["o:tracking"]
            opens, clicks = (body[f"o:tracking-{what}"] == "yes" for what in ("opens", "clicks"))
            assert (either == "yes") is (opens or clicks)
            return opens, clicks
        case "sendgrid":
            tracking = body["tracking_settings"]
            assert tracking["subscription_tracking"] == {"enable": False}
            assert tracking["ganalytics"] == {"enable": False}
            clicks = tracking["click_tracking"]
            assert clicks["enable"] is clicks["enable_text"]
            return tracking["open_tracking"]["enable"], clicks["enable"]
        case "ses":
            tracking = body["ConfigurationOverrides"]["Tracking"]
            said_so = {"ENABLED": True, "DISABLED": False}
            opens, clicks = (tracking[f"{what}TrackingEnabled"] for what in ("Open", "Click"))
            return said_so[opens], said_so[clicks]
        case _:
            assert "track" not in repr(body).casefold()
            return None, None


IDS = {"postmark": "1", "sendgrid": "d-1"}
WISHES = list(product([False, True], repeat=2))


@pytest.mark.parametrize("wish", WISHES, ids=str)
async def test_each_request_says_what_is_tracked(http: Stage, wish: tuple[bool, bool]) -> None:
    """With bodies of our own as with a template of the provider."""
    hosted = {http.kind.name: IDS.get(http.kind.name, "t")}
    expected = (None, None) if http.kind.name == "resend" else wish
    for templates in ({}, hosted):
        message = mail(
            track_opens=wish[0], track_clicks=wish[1], templates=templates, model={"a": "b"}
        )
        assert switches(http, message) == expected


async def test_without_a_word_nothing_is_tracked(http: Stage) -> None:
    assert switches(http, mail()) in ((False, False), (None, None))


async def test_how_to_leave_a_list_arrives_unchanged(stage: Stage) -> None:
    """RFC 8058: both headers, as they are: no folding, no encoded words, nobody else's link."""
    link = f"<https://shop.example/leave?t={'x' * 150}>, <mailto:a@shop.example>"
    leaving = (
        ("List-Unsubscribe", link),
        ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click"),
    )
    ready = stage.provider.prepare(mail(headers=leaving))
    assert isinstance(ready, Prepared)
    for _, value in leaving:
        assert value in ready.body.decode().replace("\r\n ", " ")
    assert type(await stage.send(mail(headers=leaving))).__name__ == "Accepted"
