"""What may be committed: one tracker per partition and ownership. Pure.

delivered  3 4 7 8      offsets may jump: compaction and control records leave holes
finished   3 4   8      in any order
committable    5        one past the last of the finished prefix; never lower than before
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple


class Partition(NamedTuple):
    topic: str
    number: int


class Tracker:
    """Follows one partition through one ownership; `epoch` tells it from the next.

    An ownership that ended leaves its tracker behind: what finishes then still finishes for the
    guard, but nobody asks this tracker for a commit any more.
    """

    __slots__ = ("_committed", "_done", "_last", "_open", "_prefix", "epoch")

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self._open: deque[int] = deque()  # delivered and behind the prefix, in order
        self._done: set[int] = set()  # of those, the finished ones
        self._last = -1
        self._prefix = -1  # -1: nothing finished yet
        self._committed = -1

    def deliver(self, offset: int) -> bool:
        """Take note of a record in hand; False: it was delivered before in this ownership."""
        if offset <= self._last:
            return False
        self._last = offset
        self._open.append(offset)
        return True

    def finish(self, offset: int) -> None:
        """Count a delivered record as finished. Amortised O(1). Repeating it changes nothing."""
        if offset < self._prefix:
            return
        self._done.add(offset)
        while self._open and self._open[0] in self._done:
            head = self._open.popleft()
            self._done.remove(head)
            self._prefix = head + 1

    def reach(self, position: int) -> None:
        """Move past what the reader stepped over (control records) while nothing is open."""
        if not self._open and position > max(self._last, self._prefix):
            self._prefix = position
            self._last = position - 1

    def due(self) -> int | None:
        """Return the offset to commit now, None when the last commit still covers everything."""
        return self._prefix if self._prefix > self._committed else None

    def committed(self, offset: int) -> None:
        """Take note that the broker has it."""
        self._committed = max(self._committed, offset)

    @property
    def unfinished(self) -> int:
        return len(self._open) - len(self._done)
