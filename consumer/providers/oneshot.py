"""The body of one HTTP request: it leaves at most once, and is complete in time or never."""

from __future__ import annotations

from aiohttp import Payload
from aiohttp.abc import AbstractStreamWriter

from consumer.providers.deadline import Deadline, pieces


class PastDeadlineError(Exception):
    """Raised inside the write hook, so that nothing is written."""


class OneShot(Payload):
    """A body that leaves at most once, and whose last piece does not leave after its deadline."""

    _value: bytes
    _autoclose = True  # nothing is held open

    def __init__(self, body: bytes, deadline: Deadline) -> None:
        # What it is, the adapter says in its headers.
        super().__init__(body, content_type="application/octet-stream")
        self._size = len(body)
        self.fired = False
        self.late = False
        self._begun = False
        self._revoked = False
        self._deadline = deadline

    async def write(self, writer: AbstractStreamWriter) -> None:
        await self.write_with_length(writer, None)

    async def write_with_length(
        self,
        writer: AbstractStreamWriter,
        content_length: int | None,  # noqa: ARG002 - it is the whole body's
    ) -> None:
        if self._begun:
            raise PastDeadlineError
        self._begun = True
        *ahead, last = pieces(self._value)
        for piece in ahead:
            self._in_time()
            await writer.write(piece)
            await writer.drain()
        self._in_time()
        self.fired = True  # from here on, who knows
        await writer.write(last)

    def _in_time(self) -> None:
        """Raise if it is too late; else the next thing that happens is a write."""
        if self._revoked or self._deadline.passed:
            self.late = True
            raise PastDeadlineError

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return self._value.decode(encoding, errors)

    def revoke(self) -> None:
        """Forbid a write that did not begin.

        Before Python 3.12 the writer is a task of its own: without this it could still run after
        the attempt was answered with "nothing left".
        """
        self._revoked = True
