"""`render --watch` as a process: a page that hears of a change, and an end by Ctrl-C."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from tests.unit.cli.conftest import write_catalogue

LONGEST = 30.0
COMMAND = ("-m", "consumer", "render", "--watch", "--port", "0", "--catalogue")


@asynccontextmanager
async def watching(folder: Path) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """Yield the process and the address that it says."""
    catalogue = str(write_catalogue(folder) / "schemas")
    process = await asyncio.create_subprocess_exec(
        sys.executable, *COMMAND, catalogue, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(LONGEST):
            line = await process.stdout.readline()
        yield process, line.split()[0].decode()
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _page(session: aiohttp.ClientSession, url: str, holding: str) -> str:
    """Follow the editions, as the page's own script does, until one holds this."""
    async with asyncio.timeout(LONGEST):
        while True:
            async with session.get(url) as answer:
                page = await answer.text()
            if holding in page:
                return page
            edition = page.partition("edition=")[2].partition('"')[0]
            async with session.get(f"{url}changes?edition={edition}") as news:
                assert (await news.content.readline()).startswith(b"data: changed")


async def test_a_save_is_seen_and_ctrl_c_is_the_end(tmp_path: Path) -> None:
    async with watching(tmp_path) as (process, url), aiohttp.ClientSession() as session:
        await _page(session, url, "Your order A-1")
        subject = tmp_path / "schemas/order.receipt/subject.j2"
        subject.write_text("{{ oops }}")
        wrong = await _page(session, url, "order.receipt/subject.j2:1")
        assert "Your order A-1" in wrong
        subject.write_text("Thank you for {{ number }}")
        mended = await _page(session, url, "Thank you for A-1")
        assert "to mend" not in mended
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(LONGEST):
            assert await process.wait() == 0
