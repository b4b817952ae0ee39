from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from consumer.guard import Guard
from tests.parts.postgres import Postgres

Open = Callable[..., Awaitable[Guard]]
Sql = Callable[..., Awaitable[list[Any]]]


@pytest.fixture
async def open_guard(database: str) -> AsyncIterator[Open]:
    """Yield a maker of workers on this test's database; each has an owner of its own."""
    async with AsyncExitStack() as stack:

        async def open_(dsn: str = database, *, lease: float = 30.0, **more: Any) -> Guard:
            guard = await Guard.open(
                dsn, owner=secrets.token_hex(4), lease=lease, retention=30 * 86400.0,
                environment="test", **more,
            )  # fmt: skip
            stack.push_async_callback(guard.close)
            return guard

        yield open_


@pytest.fixture
async def guard(open_guard: Open) -> Guard:
    return await open_guard()


@pytest.fixture
def sql(postgres: Postgres, database: str) -> Sql:
    """Return what runs one statement beside the guard: to see what stands, or to spoil it."""

    async def run(statement: str, *args: object) -> list[Any]:
        return await postgres.execute(database, statement, *args)

    return run
