"""A deployment for each test, with topics, a group and a database of its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tests.doubles import APIS
from tests.doubles.engine import Double
from tests.parts.kafka import Kafka
from tests.whole.stack import Stack

PARTITIONS = 6


@pytest.fixture
async def double() -> AsyncIterator[Double]:
    """A Postmark that counts what it accepted."""
    async with Double(APIS["postmark"]()) as running:
        yield running


@pytest.fixture
async def stack(
    kafka: Kafka, database: str, tmp_path: Path, unique: Callable[[str], str], double: Double
) -> AsyncIterator[Stack]:
    kafka.must_be_real()
    made = Stack(
        kafka=kafka,
        dsn=database,
        folder=tmp_path,
        orders=unique("orders"),
        accounts=unique("accounts"),
        outcomes=unique("outcomes"),
        group=unique("group"),
        providers={"postmark": double.options},
    )
    for topic in (made.orders, made.accounts, made.outcomes):
        await kafka.create_topic(topic, PARTITIONS)
    made.write_catalogue()
    yield made
    await made.close()
