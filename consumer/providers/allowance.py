"""How many bytes of files this worker holds at once: whoever wants more waits, in order."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

# A share counts for at least this much, which bounds the number of downloads as well.
SMALLEST: Final = 1 << 20


class Allowance:
    """`limit`: bytes. Who asks for more than there is in all gets all of it."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._free = limit
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    async def take(self, size: int) -> Share:
        """Return a share of `size` bytes. May be cancelled at any time."""
        size = min(max(size, SMALLEST), self._limit)
        if self._waiting or size > self._free:
            await self._wait(size)
        else:
            self._free -= size
        return Share(self, size)

    def give(self, size: int) -> None:
        """Only for `Share`: so many bytes are free again."""
        self._free += size
        while self._waiting:
            wanted, turn = self._waiting[0]
            if not turn.done():  # else who waited has been called back
                if wanted > self._free:
                    return
                self._free -= wanted
                turn.set_result(None)
            self._waiting.popleft()

    async def _wait(self, size: int) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append((size, turn))
        try:
            await turn
        except asyncio.CancelledError:
            # It was given in the same turn as the cancellation; or whoever stood behind need not
            # wait for it now.
            self.give(0 if turn.cancelled() else size)
            raise


class Share:
    """Bytes that may be held. Given back once, however often."""

    def __init__(self, of: Allowance, size: int) -> None:
        self._of = of
        self._size = size

    def shrink(self, size: int) -> None:
        """Keep no more than is held now that the size is known."""
        kept = min(self._size, max(size, SMALLEST))
        self._size, spare = kept, self._size - kept
        self._of.give(spare)

    def give_back(self) -> None:
        self._size, spare = 0, self._size
        self._of.give(spare)
