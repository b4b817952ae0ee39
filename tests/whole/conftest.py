"""A deployment for each test, with topics, a group and a database of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.doubles import APIS
from tests.doubles.engine import Double
from tests.parts.kafka import Kafka
from tests.whole.stack import Stack, deployed

At: TypeAlias = Callable[..., AbstractAsyncContextManager[tuple[Stack, Double]]]


@pytest.fixture
async def double() -> AsyncIterator[Double]:
    """A Postmark that counts what it accepted."""
    async with Double(APIS["postmark"]()) as running:
        yield running


@pytest.fixture
async def stack(
    kafka: Kafka, database: str, tmp_path: Path, double: Double
) -> AsyncIterator[Stack]:
    async with deployed(kafka, database, tmp_path, {"postmark": double.options}) as made:
        yield made


@pytest.fixture
def at(kafka: Kafka, database: str, tmp_path: Path) -> At:
    """Return what deploys at another provider, with these options of its section."""

    @asynccontextmanager
    async def made(provider: str, **options: object) -> AsyncIterator[tuple[Stack, Double]]:
        async with Double(APIS[provider]()) as double:
            section = {**double.options, **options}
            async with deployed(kafka, database, tmp_path, {provider: section}) as stack:
                yield stack, double

    return made
