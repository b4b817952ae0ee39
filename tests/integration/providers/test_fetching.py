"""Files are fetched whole and verified, from listed hosts; what fails says why, and no URL."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from consumer.model import Attachment, Enclosed
from consumer.providers.fetching import Fetched, Fetcher, Files, Unfetched
from tests.doubles.filing import FileServer

PDF = b"%PDF-1.7\n" + bytes(range(256)) * 40
FOREIGN = "its URL leads to a host that its mail type does not list"
DIGEST = hashlib.sha256(PDF).hexdigest()


@pytest.fixture
async def files() -> AsyncIterator[FileServer]:
    async with FileServer() as server:
        yield server


@pytest.fixture
async def fetcher() -> AsyncIterator[Fetcher]:
    async with aclosing(Fetcher(timeout=5)) as fetching:
        yield fetching


def attachment(url: str, *hosts: str, **changes: Any) -> Attachment:
    given = {"sha256": DIGEST, "max_size": len(PDF), **changes}
    return Attachment("invoice.pdf", "application/pdf", url=url, hosts=hosts, **given)


def said(files: Files) -> str:
    assert isinstance(files, Unfetched)
    assert "127.0.0.1" not in files.error
    assert "secret" not in files.error
    return files.error


async def test_a_file_comes_whole(files: FileServer, fetcher: Fetcher) -> None:
    one = attachment(f"{files.keep('/1.pdf', PDF)}?signature=a%2Fb%2B", files.host)
    got = await fetcher.fetch([one])
    assert isinstance(got, Fetched)
    assert got.hand_over() == (Enclosed(one, PDF),)
    assert got.hand_over() == ()
    got.give_back()


async def test_several_come_in_their_order(files: FileServer, fetcher: Fetcher) -> None:
    text = b"Be kind."
    digest = hashlib.sha256(text).hexdigest()
    two = [
        attachment(files.keep("/1.pdf", PDF), files.host),
        attachment(files.keep("/2.txt", text), files.host, sha256=digest),
    ]
    got = await fetcher.fetch(two)
    assert isinstance(got, Fetched)
    assert [each.content for each in got.hand_over()] == [PDF, text]
    got.give_back()


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"status": 404}, "HTTP 404"),
        ({"status": 410}, "HTTP 410"),
        ({"status": 503}, "HTTP 503"),
        ({"status": 204}, "HTTP 204"),
        ({"content": PDF[:-1]}, f"{len(PDF) - 1} bytes came, whose SHA-256 is another"),
        ({"content": PDF[:-1] + b"!"}, f"{len(PDF)} bytes came, whose SHA-256 is another"),
        ({"content": PDF + b"!"}, f"it is larger than {len(PDF)} bytes"),
        ({"content": PDF * 3, "chunked": True}, f"it is larger than {len(PDF)} bytes"),
        (
            {"content": gzip.compress(PDF), "headers": {"Content-Encoding": "gzip"}},
            "it comes encoded",
        ),
    ],
    ids=lambda given: str(given)[:30],
)
async def test_what_is_not_the_file_is_none(
    files: FileServer, fetcher: Fetcher, how: dict[str, Any], why: str
) -> None:
    one = attachment(files.keep("/secret.pdf", **({"content": PDF} | how)), files.host)
    assert said(await fetcher.fetch([one])) == f"attachment 1: {why}"


async def test_the_one_that_fails_is_named(files: FileServer, fetcher: Fetcher) -> None:
    good = attachment(files.keep("/1.pdf", PDF), files.host)
    bad = attachment(files.url("/2.pdf"), files.host)
    assert said(await fetcher.fetch([good, bad, good])) == "attachment 2: HTTP 404"
    assert files.asked == {"/1.pdf": 1, "/2.pdf": 1}


@pytest.mark.parametrize(
    ("url", "hosts", "why"),
    [
        ("https://files.example/secret", (), FOREIGN),
        ("https://evil.example/secret", ("files.example",), FOREIGN),
        ("https://files.example.evil.example/", ("files.example",), FOREIGN),
        ("https://files.example:8443/", ("files.example",), FOREIGN),
        ("https://files.example/", ("files.example:8443",), FOREIGN),
        ("http://files.example/secret", ("files.example",), "its URL is not https"),
        ("http://169.254.169.254/latest", ("169.254.169.254",), "its URL is not https"),
        ("file:///etc/passwd", ("",), "its URL is not https"),
        ("ftp://files.example/", ("files.example",), "its URL is not https"),
        ("https://secret:secret@files.example/", ("files.example",), "its URL carries a login"),
        ("https://files.example@evil.example/", ("files.example",), "its URL carries a login"),
        ("https://files.example/a b", ("files.example",), "its URL is malformed"),
        ("https://files.example/\r\nX: y", ("files.example",), "its URL is malformed"),
        ("https://files.exämple/", ("files.example",), "its URL is malformed"),
        ("https://files.example:99999/", ("files.example",), "its URL is malformed"),
        ("//files.example/", ("files.example",), "its URL is not https"),
        ("", ("files.example",), "its URL is malformed"),
    ],
    ids=lambda given: str(given)[:40],
)
async def test_nobody_else_is_asked(
    fetcher: Fetcher, url: str, hosts: tuple[str, ...], why: str
) -> None:
    """What an event says must not make this service talk to whom its writer likes."""
    assert said(await fetcher.fetch([attachment(url, *hosts)])) == f"attachment 1: {why}"


async def test_a_redirect_is_followed_where_its_host_is_listed_too(
    files: FileServer, fetcher: Fetcher
) -> None:
    async with FileServer() as store:
        store.keep("/1.pdf", PDF)
        url = files.keep("/go", status=302, headers={"Location": store.url("/1.pdf")})
        got = await fetcher.fetch([attachment(url, files.host, store.host)])
        assert isinstance(got, Fetched)
        got.give_back()
        store.asked.clear()
        assert "does not list" in said(await fetcher.fetch([attachment(url, files.host)]))
        assert store.asked == {}


@pytest.mark.parametrize("where", ["/go", "", "https://secret:x@127.0.0.1/", "\\\\x", "http://[::"])
async def test_a_redirect_to_nowhere_ends(files: FileServer, fetcher: Fetcher, where: str) -> None:
    url = files.keep("/go", status=307, headers={"Location": where})
    said(await fetcher.fetch([attachment(url, files.host)]))
    assert files.asked["/go"] <= 4


async def test_a_server_that_hangs_is_given_up(files: FileServer) -> None:
    async with aclosing(Fetcher(timeout=0.2)) as hasty:
        url = files.keep("/1.pdf", PDF, hangs=True)
        got = await hasty.fetch([attachment(url, files.host)])
        assert said(got) == "attachment 1: no answer within 0.2 s"


async def test_nobody_there_is_a_failure_like_others(fetcher: Fetcher) -> None:
    async with FileServer() as gone:
        host, url = gone.host, gone.url("/secret.pdf")
    assert said(await fetcher.fetch([attachment(url, host)])).startswith("attachment 1: Client")


async def test_no_more_is_held_at_once_than_is_allowed(files: FileServer) -> None:
    """Whoever comes later waits until somebody gave back what he holds."""
    one = attachment(files.keep("/1.pdf", PDF), files.host, max_size=3 << 20)
    async with aclosing(Fetcher(in_hand=9 << 20)) as fetcher:
        files.gate.clear()
        tasks = [asyncio.create_task(fetcher.fetch([one])) for _ in range(10)]
        while files.under_way < 3:
            files.arrived.clear()
            await files.arrived.wait()
        await asyncio.sleep(0.05)
        assert files.most == 3
        files.gate.set()
        for task in tasks:
            (await task).give_back()
        assert files.asked["/1.pdf"] == 10


async def test_who_is_called_back_holds_nothing(files: FileServer) -> None:
    one = attachment(files.keep("/1.pdf", PDF), files.host, max_size=4 << 20)
    async with aclosing(Fetcher(in_hand=4 << 20)) as fetcher:
        files.gate.clear()
        first, second = (asyncio.create_task(fetcher.fetch([one])) for _ in range(2))
        await files.arrived.wait()
        for task in (first, second):
            task.cancel()
        await asyncio.wait({first, second})
        files.gate.set()
        got = await fetcher.fetch([one])
        assert isinstance(got, Fetched)
        got.give_back()
