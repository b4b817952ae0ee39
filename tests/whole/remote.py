"""A double in a process of its own: for the many mails, where one event loop would be the limit."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import orjson


@dataclass(frozen=True, slots=True)
class Remote:
    """`options`: what goes into [providers.X] to be sent there."""

    options: Mapping[str, Any]

    async def accepted(self) -> dict[str, list[str]]:
        """Return key -> the ids that were given for it."""
        url = f"{self.options['base_url']}/_control/accepted"
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            found: dict[str, list[str]] = orjson.loads(await answer.read())
            return found


@asynccontextmanager
async def remote(provider: str) -> AsyncIterator[Remote]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.doubles", "--provider", provider, stdout=PIPE
    )
    assert process.stdout is not None
    try:
        told = await process.stdout.readline()
        yield Remote(orjson.loads(told)["options"])
    finally:
        process.terminate()
        await process.wait()
