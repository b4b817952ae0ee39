"""Asking the guard for a command: opened, asked, closed, and never waited for without end.

`ask` puts a question as a worker does, `at_desk` as a person does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeVar

from consumer import settings
from consumer.cli.app import StopError
from consumer.guard import Guard
from consumer.guard.desk import Desk
from consumer.privacy import privacy

T = TypeVar("T")

PATIENCE: Final = 15.0  # seconds; the guard itself repeats for ever, a person does not
EACH: Final = 0.1  # seconds more for each of many that are asked for at once


def ask(config: Path, question: Callable[[Guard], Awaitable[T]]) -> T:
    """Open the guard of this configuration and put one question to it."""
    return asyncio.run(patiently(_opened(settings.load(config), question)))


def at_desk(
    config: Path, question: Callable[[Desk], Awaitable[T]], patience: float | None = PATIENCE
) -> T:
    """Open the desk for one question; refuses the database of another environment.

    `patience`: seconds for all of it; None: the question is patient by itself, see `patiently`.
    """
    return asyncio.run(patiently(_at_desk(settings.load(config), question), patience))


async def patiently(asked: Awaitable[T], patience: float | None = PATIENCE) -> T:
    """Wait for an answer of the guard; raises `StopError` where Postgres gives none in time."""
    try:
        async with asyncio.timeout(patience):
            return await asked
    except TimeoutError:
        raise StopError(f"Postgres does not answer within {patience:g} s") from None


async def _opened(found: settings.Settings, question: Callable[[Guard], Awaitable[T]]) -> T:
    guard = await Guard.open(
        found.postgres.dsn.get_secret_value(),
        owner="command line",
        lease=found.guard.lease,
        retention=found.guard.retention,
        environment=found.safety.environment,
        pgbouncer=found.postgres.pgbouncer,
        password=lambda: found.postgres.password_text,
        privacy=privacy(found),
    )
    try:
        return await question(guard)
    finally:
        await guard.close()


async def _at_desk(found: settings.Settings, question: Callable[[Desk], Awaitable[T]]) -> T:
    desk = await Desk.open(
        found.postgres.dsn.get_secret_value(),
        environment=found.safety.environment,
        pgbouncer=found.postgres.pgbouncer,
        password=lambda: found.postgres.password_text,
        privacy=privacy(found),
    )
    try:
        return await question(desk)
    finally:
        await desk.close()
