"""The command line from outside: a process, its exit code, and what it wrote."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from tests.whole.stack import Stack

LONGEST = 60.0  # seconds; a loaded machine starts Python in three


@dataclass(frozen=True, slots=True)
class Ran:
    """`output` is stdout; `errors` is stderr, where log lines and refusals stand."""

    code: int
    output: bytes
    errors: bytes

    @property
    def lines(self) -> list[str]:
        return self.errors.decode().splitlines()


async def sendonce(
    *words: str, seconds: float = LONGEST, environ: Mapping[str, str] | None = None
) -> Ran:
    """Run `sendonce WORDS` to its end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "consumer", *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **(environ or {})},
    )  # fmt: skip
    try:
        async with asyncio.timeout(seconds):
            output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return Ran(process.returncode or 0, output, errors)


async def run(stack: Stack, *words: str) -> Ran:
    """Run a command with the configuration of this deployment."""
    return await sendonce(*words, "--config", str(stack.config()))


async def start(config: Path, seconds: float = LONGEST, **environ: str) -> Ran:
    """Run the service with a configuration that it cannot go on with."""
    return await sendonce("run", "--config", str(config), seconds=seconds, environ=environ)


def answer(ran: Ran) -> Any:
    """Return the JSON document of a command that was done."""
    assert ran.code == 0, ran.errors.decode()
    return orjson.loads(ran.output)
