"""The judges are judged: a double that miscounts, or lets anything pass, proves nothing."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp
import orjson
import pytest

from tests.doubles import APIS
from tests.doubles.api import one_mailbox
from tests.doubles.engine import Double
from tests.doubles.mails import KEY
from tests.doubles.postmark import PostmarkApi
from tests.doubles.script import Fault, Script

POSTMARK_MAIL: dict[str, Any] = {
    "From": "shop@shop.example",
    "To": "ada@example.com",
    "Subject": "Hi",
    "TextBody": "text",
    "HtmlBody": "html",
    "Metadata": {"sendonce_key": KEY},
    "MessageStream": "outbound",
    "TrackOpens": False,
    "TrackLinks": "None",
}
HEADERS = {
    "X-Postmark-Server-Token": "server-token",
    "Accept": "application/json",
    "Content-Type": "application/json",
}


@pytest.fixture
async def double() -> AsyncIterator[Double]:
    async with Double(PostmarkApi()) as running:
        yield running


async def post(url: str, body: object, headers: Mapping[str, str] | None = None) -> tuple[int, Any]:
    async with aiohttp.ClientSession() as session:
        given = HEADERS if headers is None else headers
        async with session.post(url, data=orjson.dumps(body), headers=given) as response:
            return response.status, orjson.loads(await response.read() or b"null")


async def get(url: str) -> Any:
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        return orjson.loads(await response.read())


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"To": "ada@example.com, eve@evil.example"}, 300),
        ({"To": "Ada, Byte <ada@example.com>"}, 300),
        ({"Bcc": "eve@evil.example"}, 300),
        ({"Unknown": 1}, 403),
        ({"TextBody": None}, 300),
        ({"Metadata": {"a_name_of_twenty_one_c": "x"}}, 300),
        ({"Metadata": {"sendonce_key": "x" * 81}}, 300),
        ({"TrackLinks": "Everything"}, 300),
        ({"Tag": "x" * 1001}, 300),
    ],
    ids=str,
)
async def test_what_the_real_api_refuses_is_refused(
    double: Double, change: dict[str, Any], code: int
) -> None:
    status, answer = await post(f"{double.url}/email", {**POSTMARK_MAIL, **change})
    assert (status, answer["ErrorCode"]) == (422, code)
    assert double.ledger.total == 0


@pytest.mark.parametrize("missing", ["X-Postmark-Server-Token", "Accept", "Content-Type"])
async def test_a_missing_header_is_refused(double: Double, missing: str) -> None:
    headers = {name: value for name, value in HEADERS.items() if name != missing}
    status, _ = await post(f"{double.url}/email", POSTMARK_MAIL, headers)
    assert status in {401, 415, 422}


async def test_the_ledger_counts_mails_keys_and_doubles(double: Double) -> None:
    for _ in range(2):
        await post(f"{double.url}/email", POSTMARK_MAIL)
    await post(f"{double.url}/email", {**POSTMARK_MAIL, "Metadata": {"sendonce_key": "other"}})
    summary = await get(f"{double.url}/_control/ledger")
    assert (summary["accepted"], summary["distinct_keys"]) == (3, 2)
    assert (summary["accepted_twice"], summary["twice"]) == (1, [KEY])
    assert len((await get(f"{double.url}/_control/keys/{KEY}"))["ids"]) == 2


async def test_faults_are_set_over_the_wire(double: Double) -> None:
    slow_down = {"word": "status", "status": 429, "body": "{}"}
    await post(f"{double.url}/_control/script", [slow_down])
    await post(
        f"{double.url}/_control/recipients", {"bob@example.com": {**slow_down, "status": 406}}
    )
    assert (await post(f"{double.url}/email", POSTMARK_MAIL))[0] == 429
    assert (await post(f"{double.url}/email", POSTMARK_MAIL))[0] == 200
    to_bob = {**POSTMARK_MAIL, "To": "bob@example.com"}
    assert (await post(f"{double.url}/email", to_bob))[0] == 406
    await post(f"{double.url}/_control/always", {"word": "status", "status": 418, "body": "{}"})
    assert (await post(f"{double.url}/email", POSTMARK_MAIL))[0] == 418
    await post(f"{double.url}/_control/clear", None)
    assert (await post(f"{double.url}/email", to_bob))[0] == 200
    assert double.ledger.total == 1


def test_rates_are_drawn_by_seed_and_add_up() -> None:
    def drawn(seed: int) -> list[str]:
        script = Script(seed)
        script.at_rates({"drop": 0.2, "error": 0.1})
        return [script.draw().word for _ in range(2000)]

    assert drawn(1) == drawn(1) != drawn(2)
    assert 300 < drawn(1).count("drop") < 500
    assert 100 < drawn(1).count("status") < 300


def test_a_fault_that_is_none_is_told() -> None:
    with pytest.raises(ValueError, match="explode"):
        Fault("explode")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("ada@example.com", "ada@example.com"),
        ('"Byte, \\"A\\" \\\\ Ada <x@y>" <ada@example.com>', "ada@example.com"),
        ("Ada Byte <ada@example.com>", "ada@example.com"),
        ("Byte, Ada <ada@example.com>", None),
        ("ada@example.com,eve@evil.example", None),
        ('"open <ada@example.com>', None),
        ("<ada@example.com> <eve@evil.example>", None),
        ("a@b@c", None),
        ("", None),
        (None, None),
    ],
)
def test_a_mailbox_is_read_strictly(text: object, address: str | None) -> None:
    assert one_mailbox(text) == address


@pytest.mark.parametrize("name", sorted(APIS))
async def test_a_double_runs_as_a_process_and_says_where(name: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.doubles", "--provider", name, "--drop", "1.0"),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        line = json.loads(await process.stdout.readline())
        assert line["provider"] == name
        summary = await get(f"{line['options']['base_url']}/_control/ledger")
        assert summary["accepted"] == 0
    finally:
        process.terminate()
        assert await process.wait() == 0


@pytest.mark.parametrize(("name", "said"), [("postmark", b'"control"'), ("smtp", b"aiosmtpd")])
async def test_only_the_double_of_smtp_needs_what_it_is_made_with(name: str, said: bytes) -> None:
    """The first line says it, and is no traceback."""
    bare = f"import runpy, sys; sys.modules['aiosmtpd'] = None; sys.argv += '--provider', {name!r}"
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", f"{bare}; runpy.run_module('tests.doubles', run_name='__main__')"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdout is not None
    assert said in await process.stdout.readline()
    if name == "postmark":
        process.terminate()
    assert await process.wait() == (name == "smtp")
