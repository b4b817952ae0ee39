"""Asking the guard for a command: opened, asked, closed, and never waited for without end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeVar

from consumer import settings
from consumer.cli.app import Stop
from consumer.guard import Guard

T = TypeVar("T")

_PATIENCE: Final = 15.0  # seconds; the guard itself repeats for ever, a person does not


def ask(config: Path, question: Callable[[Guard], Awaitable[T]]) -> T:
    """Open the guard of this configuration and put one question to it."""
    return asyncio.run(_ask(settings.load(config), question))


async def _ask(found: settings.Settings, question: Callable[[Guard], Awaitable[T]]) -> T:
    try:
        async with asyncio.timeout(_PATIENCE):
            return await _opened(found, question)
    except TimeoutError:
        raise Stop(f"Postgres does not answer within {_PATIENCE:g} s") from None


async def _opened(found: settings.Settings, question: Callable[[Guard], Awaitable[T]]) -> T:
    guard = await Guard.open(
        found.postgres.dsn.get_secret_value(),
        owner="command line",
        lease=found.guard.lease,
        retention=found.guard.retention,
        environment=found.safety.environment,
        pgbouncer=found.postgres.pgbouncer,
    )
    try:
        return await question(guard)
    finally:
        await guard.close()
