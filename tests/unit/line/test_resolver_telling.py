"""What was settled late is told to the last, however much has piled up."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from consumer import endings, resolver
from consumer.resolver import Resolver


class Guard:
    """Has so much to tell that one look does not find all of it."""

    def __init__(self, *looks: list[str]) -> None:
        self.looks = list(looks)
        self.told: list[str] = []
        self.all_told = asyncio.Event()

    async def take_due(self, _limit: int) -> list[object]:
        return []

    async def outcomes_due(self) -> list[Any]:
        if not self.looks:
            self.all_told.set()
            return []
        return [SimpleNamespace(row=row, record=None) for row in self.looks.pop(0)]

    async def outcome_told(self, row: str) -> None:
        self.told.append(row)

    async def news_due(self) -> list[object]:
        return []


async def test_one_look_follows_another_until_nothing_is_left_to_tell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Once a look a minute told a hundred of two thousand that a storm had left behind."""
    monkeypatch.setattr(resolver, "PAUSE", 0.001)
    monkeypatch.setattr(endings, "told", lambda row, _mail: row)
    published: list[str] = []

    async def publish(ending: Any) -> None:
        published.append(ending)

    async def glance(_record: object) -> None:
        return None

    guard = Guard(["a", "b"], ["c"])
    line = SimpleNamespace(reading=SimpleNamespace(glance=glance))
    parts = cast("Any", (guard, line, None, publish, None))
    working = Resolver(*parts)
    running = asyncio.create_task(working.run())
    async with asyncio.timeout(10):
        await guard.all_told.wait()
    working.stop()
    await running
    assert guard.told == published == ["a", "b", "c"]
