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
    """`options`: what goes into [providers.X] to be sent there; `control`: where it is asked."""

    options: Mapping[str, Any]
    control: str

    async def accepted(self) -> dict[str, list[str]]:
        """Return key -> the ids that were given for it."""
        url = f"{self.control}/_control/accepted"
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            found: dict[str, list[str]] = orjson.loads(await answer.read())
            return found

    async def fail(self, rates: Mapping[str, float], seed: int = 0) -> None:
        """Let so many requests fail from now on, in the words of `doubles.script`."""
        url = f"{self.control}/_control/rates"
        async with (
            aiohttp.ClientSession() as session,
            session.post(url, data=orjson.dumps({**rates, "seed": seed})) as answer,
        ):
            assert answer.status == 200


@asynccontextmanager
async def remote(provider: str, *words: str) -> AsyncIterator[Remote]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.doubles", "--provider", provider, *words, stdout=PIPE
    )
    assert process.stdout is not None
    try:
        told = await process.stdout.readline()
        made = orjson.loads(told)
        yield Remote(made["options"], made["control"])
    finally:
        process.terminate()
        await process.wait()
