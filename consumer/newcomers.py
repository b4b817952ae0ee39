"""Events that nobody knew when they came, and this worker's catalogue does: rolling deploys.

A worker of the release before met an event type, or a version of its schema, that only the next
release brings, and opened a letter. No person is needed for that: whoever reads it takes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NoReturn

import structlog

from consumer.model import Bad, NeedsSchema, Reason

if TYPE_CHECKING:
    from consumer.guard import DeadLetter, Due
    from consumer.guard.unread import Unread
    from consumer.reading import Reading

log = structlog.get_logger(__name__)

EVERY = 15.0  # seconds between two looks
PAGE = 1000  # ids at a look
TOGETHER = 20  # letters in hand at once; each may hold ten megabytes

_STRANGE: Final = (Reason.UNKNOWN_TYPE, Reason.UNKNOWN_VERSION)


@dataclass(slots=True)
class Newcomers:
    """`work`: what the resolver does with what is due.

    A process reads its catalogue once, so what it does not know now it never will.
    """

    unread: Unread
    reading: Reading
    work: Callable[[Due], Awaitable[None]]
    _after: int = 0
    _strange: set[int] = field(default_factory=set)

    async def run(self) -> NoReturn:
        while True:
            await self.look()
            await asyncio.sleep(EVERY)

    async def look(self) -> None:
        """Take what this worker can read, of one page of letters."""
        ids = await self.unread.ids(self._after, PAGE)
        self._after = ids[-1] if len(ids) == PAGE else 0
        new = [one for one in ids if one not in self._strange]
        for first in range(0, len(new), TOGETHER):
            await self._take(new[first : first + TOGETHER])

    async def _take(self, ids: Sequence[int]) -> None:
        letters = await self.unread.letters(ids)
        known = [letter.id for letter in letters if await self._knows(letter)]
        if known:
            log.info("newly known", letters=len(known))
            due = await self.unread.take(known)
            await asyncio.gather(*map(self.work, due))

    async def _knows(self, letter: DeadLetter) -> bool:
        if letter.record is None:
            return False  # sealed with a key that is not here
        read = await self.reading.glance(letter.record)
        if isinstance(read, Bad) and read.reason in _STRANGE:
            self._strange.add(letter.id)
            return False
        return not isinstance(read, NeedsSchema)
