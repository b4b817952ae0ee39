"""Signatures are botocore's, bit for bit; credentials come from its chain, off the event loop."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from datetime import UTC, datetime

import botocore.session
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st

from consumer.model import Blocked, Prepared
from consumer.providers import aws
from consumer.providers.aws import AwsCredentials
from consumer.providers.ses import Ses, SesOptions
from consumer.providers.sigv4 import Keys, Scope, sign
from tests.doubles.mails import mail

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
URLS = (
    "https://email.eu-central-1.amazonaws.com/v2/email/outbound-emails",
    "http://127.0.0.1:9901/v2/email/outbound-emails",
    "https://[::1]:8443/v2/email/outbound-emails",
    "https://ses.internal:443/v2/email/outbound-emails",
)
words = st.text("abcdefABCDEF0123456789/+=", min_size=1, max_size=40)


@given(
    keys=st.builds(Keys, words, words, st.none() | words),
    url=st.sampled_from(URLS),
    body=st.binary(max_size=200),
    now=st.datetimes(datetime(2020, 1, 1), datetime(2100, 1, 1)),  # noqa: DTZ001 - given its zone below
)
def test_the_signature_is_botocores(keys: Keys, url: str, body: bytes, now: datetime) -> None:
    headers = {"Content-Type": "application/json"}
    digest = hashlib.sha256(body).digest()
    signed = sign(keys, Scope("eu-central-1", "ses"), url, headers, digest, now.replace(tzinfo=UTC))
    assert signed["Authorization"] == botocores(keys, url, {**headers, **signed}, body)


def botocores(keys: Keys, url: str, headers: dict[str, str], body: bytes) -> str:
    auth = SigV4Auth(
        Credentials(keys.access_key, keys.secret_key, keys.token), "ses", "eu-central-1"
    )
    request = AWSRequest("POST", url, headers=dict(headers), data=body)
    del request.headers["Authorization"]
    request.context["timestamp"] = headers["X-Amz-Date"]
    signature = auth.signature(
        auth.string_to_sign(request, auth.canonical_request(request)), request
    )
    names = auth.signed_headers(auth.headers_to_sign(request))
    credential = f"AWS4-HMAC-SHA256 Credential={auth.scope(request)}"
    return f"{credential}, SignedHeaders={names}, Signature={signature}"


def test_a_secret_is_not_shown() -> None:
    assert "hidden" not in repr(Keys("AKID", "hidden", "hidden"))


# ── Credentials


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Set an environment from which nothing but itself is found."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_WEB_IDENTITY_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDENV")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of the environment")
    return monkeypatch


async def test_the_usual_chain_is_asked(environment: pytest.MonkeyPatch) -> None:
    assert await AwsCredentials().keys() == Keys("AKIDENV", "of the environment")


async def test_no_credentials_at_all_stop_the_account(environment: pytest.MonkeyPatch) -> None:
    environment.delenv("AWS_ACCESS_KEY_ID")
    environment.delenv("AWS_SECRET_ACCESS_KEY")
    assert await AwsCredentials().keys() == Blocked("ses: no credentials")


async def test_a_broken_chain_stops_the_account(environment: pytest.MonkeyPatch) -> None:
    """A profile that is not there: named by its class, since texts of a chain may hold anything."""
    answer = await AwsCredentials(profile="nowhere").keys()
    assert answer == Blocked("ses: no credentials (ProfileNotFound)")


async def test_many_mails_ask_once_and_never_on_the_event_loop(
    environment: pytest.MonkeyPatch,
) -> None:
    chain = Chain()
    environment.setattr(botocore.session, "Session", lambda **_: chain)
    credentials = AwsCredentials()
    found = await asyncio.gather(*(credentials.keys() for _ in range(50)))
    assert set(found) == {Keys("AKID1", "secret")}
    assert chain.asked == 1
    assert chain.threads.isdisjoint({threading.get_ident()})


async def test_renewed_credentials_are_taken_up(environment: pytest.MonkeyPatch) -> None:
    """By the one session that was made: a new one would ask the whole chain again."""
    sessions = iter([Chain()])
    environment.setattr(botocore.session, "Session", lambda **_: next(sessions))
    environment.setattr(aws, "FRESH", 0.0)
    credentials = AwsCredentials()
    found = [await credentials.keys() for _ in range(2)]
    assert found == [Keys("AKID1", "secret"), Keys("AKID2", "secret")]


async def test_a_chain_that_hangs_holds_no_mail_for_ever(environment: pytest.MonkeyPatch) -> None:
    release = threading.Event()
    environment.setattr(aws, "_chain", lambda _: release.wait(10))
    environment.setattr(aws, "PATIENCE", 0.01)
    try:
        assert await AwsCredentials().keys() == Blocked("ses: no answer from the credential chain")
    finally:
        release.set()


async def test_without_botocore_the_start_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aws, "find_spec", lambda _: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install botocore"):
        Ses(SesOptions(region="eu-central-1"))
    given = {"region": "eu-central-1", "access_key_id": "AKID", "secret_access_key": "s"}
    adapter = Ses(SesOptions.model_validate(given))
    ready = adapter.request(mail())
    assert isinstance(ready, Prepared)
    assert "Authorization" in await adapter.sign(ready)  # type: ignore[operator]  # keys are given


class Chain:
    """A botocore session whose credentials are new each time."""

    def __init__(self) -> None:
        self.asked = 0
        self.threads: set[int] = set()

    def get_credentials(self) -> Chain:
        return self

    def get_frozen_credentials(self) -> Credentials:
        self.asked += 1
        self.threads.add(threading.get_ident())
        return Credentials(f"AKID{self.asked}", "secret")
