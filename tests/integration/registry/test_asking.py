"""Commands read what needs a schema: they ask on the way, once, and wait for nobody."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from consumer.cli.app import StopError
from consumer.cli.asked import decoding
from consumer.events import decode
from consumer.model import Event, Record
from tests.doubles.registry import RegistryDouble

CONFIG = """
[kafka]
bootstrap_servers = "127.0.0.1:9092"
start_from = "earliest"
[postgres]
dsn = "postgresql://127.0.0.1/none"
[catalogue]
path = "schemas"
[safety]
environment = "test"
[registry]
url = "{url}"
"""
RECORD = Record("orders", 0, 7, 1, None, b'\0\0\0\0\1{"a":1}')


@pytest.fixture
async def double() -> AsyncIterator[RegistryDouble]:
    async with RegistryDouble() as running:
        yield running


@pytest.fixture
def config(double: RegistryDouble, tmp_path: Path) -> Path:
    file = tmp_path / "sendonce.toml"
    file.write_text(CONFIG.format(url=double.url))
    return file


async def test_a_schema_is_asked_for_on_the_way(double: RegistryDouble, config: Path) -> None:
    double.register({"type": "object"}, "JSON")
    read = await asyncio.to_thread(decoding, config)
    for _ in range(2):
        found = await asyncio.to_thread(read, RECORD)
        assert isinstance(found, Event)
        assert found.data == {"a": 1}
    assert double.asked == {"/schemas/ids/1": 1}


async def test_a_registry_that_is_away_is_told_to_the_person(
    double: RegistryDouble, config: Path
) -> None:
    double.away = True
    read = await asyncio.to_thread(decoding, config)
    with pytest.raises(StopError, match="the schema registry does not answer"):
        await asyncio.to_thread(read, RECORD)


def test_a_catalogue_by_itself_needs_no_registry(config: Path) -> None:
    assert decoding(config, Path("schemas")) is decode
