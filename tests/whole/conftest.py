"""A deployment for each test, with topics, a group and a database of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.doubles import APIS
from tests.doubles.engine import Double
from tests.parts.kafka import Kafka
from tests.whole.stack import Stack, deployed


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
