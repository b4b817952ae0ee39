"""SendGrid's double is a judge: it must refuse what SendGrid refuses."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from multidict import CIMultiDict

from consumer.model import Prepared
from consumer.providers import SendGridOptions
from consumer.providers.sendgrid import SendGrid
from tests.doubles.api import Call, RefusalError
from tests.doubles.ledger import Ledger
from tests.doubles.mails import KEY, mail
from tests.doubles.sendgrid import ACTIVITY, MAIL, SendGridApi

API = SendGridApi()
HEADERS = {
    "Authorization": f"Bearer {API.api_key}",
    "Accept": "application/json",
    "Content-Type": "application/json",
}
QUERY = f"?limit=10&query=(unique_args['sendonce_key']=%22{KEY}%22)"


def body() -> dict[str, Any]:
    whole = mail(tags=("receipt",), options={"ip_pool": "receipts"})
    ready = SendGrid(SendGridOptions.model_validate(API.credentials)).request(whole)
    assert isinstance(ready, Prepared)
    read: dict[str, Any] = orjson.loads(ready.body)
    return read


def call(sent: object, path: str = MAIL, method: str = "POST", **headers: str) -> Call:
    return Call(method, path, CIMultiDict({**HEADERS, **headers}), orjson.dumps(sent))


def refused(asked: Call) -> int:
    with pytest.raises(RefusalError) as refusal:
        API.check(asked)
    return refusal.value.reply.status


def test_what_our_adapter_says_is_taken_under_our_key() -> None:
    taken = API.check(call(body()))
    assert (taken.key, taken.recipient) == (KEY, "ada@example.com")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": "Bearer other"}, 401),
        ({"Content-Type": "text/plain"}, 415),
        ({"Accept": "*/*"}, 406),
    ],
)
def test_a_wrong_header_is_refused(headers: dict[str, str], status: int) -> None:
    assert refused(call(body(), **headers)) == status


def test_another_door_is_none() -> None:
    assert refused(call(body(), path="/v3/mail")) == 404
    assert refused(call(body(), method="PUT")) == 405


HTML = {"type": "text/html", "value": "x"}
TEXT = {"type": "text/plain", "value": "x"}
TO = [{"email": "ada@example.com"}]


@pytest.mark.parametrize(
    "change",
    [
        {"unknown": 1},
        {"personalizations": []},
        {"personalizations": [{"to": TO}, {"to": TO}]},
        {"personalizations": [{}]},
        {"personalizations": [{"to": []}]},
        {"personalizations": [{"to": TO, "bcc": TO}]},
        {"personalizations": [{"to": TO, "custom_args": {}}]},
        {"personalizations": [{"to": TO, "custom_args": {"a": 1}}]},
        {"personalizations": [{"to": TO, "custom_args": {"a": "x" * 10_000}}]},
        {"personalizations": [{"to": [{"email": "ada@example.com, eve@evil.example"}]}]},
        {"personalizations": [{"to": [{"email": "ada@example.com", "name": "Byte, Ada"}]}]},
        {"from": {"name": "Shop"}},
        {"reply_to": {"email": "nobody"}},
        {"subject": ""},
        {"content": []},
        {"content": [HTML, TEXT]},
        {"content": [{**TEXT, "value": ""}, HTML]},
        {"headers": {"Subject": "x"}},
        {"headers": {"X-A": "1", "x-a": "2"}},
        {"headers": {"X-A": "é"}},
        {"headers": {"X-A": 1}},
        {"categories": ["a", "a"]},
        {"categories": ["é"]},
        {"categories": [str(number) for number in range(11)]},
        {"ip_pool_name": "x"},
        {"tracking_settings": {"click_tracking": {"enable": "no"}}},
    ],
    ids=str,
)
def test_what_the_real_api_refuses_is_refused(change: dict[str, Any]) -> None:
    assert refused(call({**body(), **change})) == 400


def test_email_activity_has_its_price_and_its_limit() -> None:
    """Six questions a minute; none without the add-on; none by another syntax."""
    api, ledger = SendGridApi(), Ledger()
    asked = [_status(api, ledger) for _ in range(7)]
    assert asked == [200] * 6 + [429]
    assert _status(SendGridApi(activity=False), ledger) == 403
    assert _status(SendGridApi(), ledger, "?limit=10&query=custom_args") == 400
    assert _status(SendGridApi("SG.other"), ledger) == 401


def _status(api: SendGridApi, ledger: Ledger, query: str = QUERY) -> int:
    try:
        reply = api.ask(call(None, path=ACTIVITY + query, method="GET"), ledger)
    except RefusalError as refusal:
        return refusal.reply.status
    assert reply is not None
    return reply.status
