"""A body on its way out, and a wire that is none."""

from __future__ import annotations

from collections.abc import Callable

from aiohttp.abc import AbstractStreamWriter
from multidict import CIMultiDict

from consumer.model import Lease
from consumer.providers.deadline import Deadline
from consumer.providers.oneshot import OneShot
from tests.doubles.mails import lease


def one_shot(body: bytes = b"mail", held: Lease | None = None) -> OneShot:
    return OneShot(body, Deadline(held or lease(), float("inf"), 1.0))


class Paper(AbstractStreamWriter):
    """A wire that only notes what is written on it, and calls `then` after each write."""

    def __init__(self, then: Callable[[], object] = lambda: None) -> None:
        self.written: list[bytes] = []
        self._then = then

    async def write(self, chunk: bytes | bytearray | memoryview) -> None:
        self.written.append(bytes(chunk))
        self._then()

    async def write_eof(self, chunk: bytes = b"") -> None: ...

    async def drain(self) -> None: ...

    def enable_compression(
        self, encoding: str = "deflate", strategy: int | None = None
    ) -> None: ...

    def enable_chunking(self) -> None: ...

    async def write_headers(self, status_line: str, headers: CIMultiDict[str]) -> None: ...
