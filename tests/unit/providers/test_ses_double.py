"""SES's double is a judge: it must refuse what SES refuses, above all a false signature."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from multidict import CIMultiDict

from consumer.model import Prepared
from consumer.providers.ses import Ses, SesOptions
from consumer.providers.sigv4 import Keys, Scope, sign
from tests.doubles.api import Call, RefusalError
from tests.doubles.mails import KEY, mail
from tests.doubles.ses import PATH, SesApi

URL = f"http://127.0.0.1:9901{PATH}"
API = SesApi()
KEYS = Keys(API.access_key, API.secret)
FRESH = timedelta()


def body(**changes: object) -> dict[str, Any]:
    options = SesOptions.model_validate({**API.credentials, "base_url": "http://127.0.0.1:9901"})
    ready = Ses(options).request(mail(**changes))
    assert isinstance(ready, Prepared)
    read: dict[str, Any] = orjson.loads(ready.body)
    return read


def call(
    sent: object,
    keys: Keys = KEYS,
    age: timedelta = FRESH,
    region: str = API.region,
    url: str = URL,
) -> Call:
    """Signed `age` ago: now, when the test runs, for SES takes no stamp older than five minutes."""
    data = orjson.dumps(sent)
    headers = {"Content-Type": "application/json"}
    digest = hashlib.sha256(data).digest()
    signed = sign(keys, Scope(region, "ses"), url, headers, digest, datetime.now(UTC) - age)
    path = url.partition(":9901")[2]
    return Call("POST", path, CIMultiDict({**headers, **signed, "Host": "127.0.0.1:9901"}), data)


def refused(asked: Call) -> str:
    with pytest.raises(RefusalError) as refusal:
        API.check(asked)
    return refusal.value.reply.headers["x-amzn-ErrorType"].partition(":")[0]


def test_a_proper_request_is_filed_under_our_key() -> None:
    taken = API.check(call(body()))
    assert (taken.key, taken.recipient) == (KEY, "ada@example.com")


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        ({"keys": Keys(API.access_key, "other")}, "InvalidSignatureException"),
        ({"keys": Keys("AKIDOTHER", API.secret)}, "UnrecognizedClientException"),
        ({"age": timedelta(minutes=6)}, "InvalidSignatureException"),
        ({"region": "us-east-1"}, "InvalidSignatureException"),
        ({"url": "http://127.0.0.1:9901/v2/email"}, "UnknownOperationException"),
    ],
)
def test_who_asks_is_checked_first(wrong: dict[str, Any], kind: str) -> None:
    assert refused(call(body(), **wrong)) == kind


def test_an_unsigned_request_is_refused() -> None:
    nameless = Call("POST", PATH, CIMultiDict(), b"{}")
    assert refused(nameless) == "MissingAuthenticationTokenException"


def test_a_body_that_was_changed_on_the_way_is_refused() -> None:
    good = call(body())
    changed = Call(good.method, good.path, good.headers, good.body.replace(b"ada@", b"eve@"))
    assert refused(changed) == "InvalidSignatureException"


def _without(*path: str) -> Callable[[dict[str, Any]], None]:
    def change(sent: dict[str, Any]) -> None:
        for name in path[:-1]:
            sent = sent[name]
        del sent[path[-1]]

    return change


@pytest.mark.parametrize(
    "change",
    [
        _without("Content"),
        _without("Content", "Simple", "Subject"),
        _without("Content", "Simple", "Body"),
        _without("FromEmailAddress"),
        _without("Destination"),
        lambda sent: sent.update(Unknown=1),
        lambda sent: sent["EmailTags"].append({"Name": "order", "Value": "order:1"}),
        lambda sent: sent["Content"]["Simple"]["Headers"].append(
            {"Name": "Message-ID", "Value": "<a@b>"}
        ),
        lambda sent: sent["Content"]["Simple"]["Headers"].append({"Name": "X-A", "Value": "ü"}),
        lambda sent: sent["Content"]["Simple"]["Subject"].update(Data="ü", Charset="US-ASCII"),
        lambda sent: sent.update(FromEmailAddress="Zoë <a@shop.example>"),
        lambda sent: sent["Destination"].update(ToAddresses=["a@b.example", "c@d.example"]),
        lambda sent: sent["Destination"].update(ToAddresses=["a@b.example, c@d.example"]),
    ],
)
def test_what_the_model_forbids_is_refused(change: Callable[[dict[str, Any]], None]) -> None:
    sent = body()
    change(sent)
    assert refused(call(sent)) == "BadRequestException"


def test_a_configuration_set_that_is_not_there_is_not_found() -> None:
    assert refused(call(body(options={"configuration_set": "other"}))) == "NotFoundException"


def test_a_mail_without_our_tag_is_filed_under_no_key() -> None:
    sent = body()
    sent["EmailTags"] = []
    assert API.check(call(sent)).key == ""
