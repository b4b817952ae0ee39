"""A parked row goes on as it was judged, or not at all."""

from __future__ import annotations

from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from consumer.endings import LetGo
from consumer.line import Line
from consumer.model import Row, Status

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

JUDGED = cast("Row", SimpleNamespace(epoch=5, status=Status.WAITING))


class Going(Line):
    """A line that finds `stands` under the key, and notes whether it would send."""

    def __init__(self, stands: object) -> None:
        self.sent = 0
        self._stands = stands
        self._flights = cast("Any", self)

    @asynccontextmanager
    async def only(self, _key: str) -> AsyncIterator[None]:
        yield

    async def _look(self, _case: object) -> Any:
        return self._stands

    async def send(self, *_: object, **__: object) -> Any:
        self.sent += 1
        return "landed"


CASE = cast("Any", SimpleNamespace(mail=SimpleNamespace(key="k")))


@pytest.mark.parametrize(
    "stands",
    [
        None,
        SimpleNamespace(epoch=7, status=Status.FAILED),  # its record's own flight was faster
        SimpleNamespace(epoch=6, status=Status.WAITING),
        SimpleNamespace(epoch=5, status=Status.SENDING),
    ],
)
async def test_what_moved_on_meanwhile_is_let_go(stands: object) -> None:
    line = Going(stands)
    assert await line.go_on(CASE, JUDGED) == LetGo()
    assert line.sent == 0


async def test_what_stands_as_it_was_judged_goes_on() -> None:
    line = Going(JUDGED)
    assert cast("Any", await line.go_on(CASE, JUDGED)) == "landed"
