"""The thread by which a record in hand can be called back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from enum import IntEnum


class _Grip(IntEnum):
    FREE = 0  # waiting for something: may be let go at any time
    KEPT = 1  # claimed: let go only when the budget is over
    FIXED = 2  # a guard write is under way: never let go


class Hold:
    """What the line tells the intake about a record in hand, and the other way round.

    The line marks its stretches (`kept`, `fixed`; they nest, the firmer one counts); the intake
    calls back with `recall`. A recall cancels the record's task while it waits in a stretch that
    allows it: a soft one only where nothing is claimed, a hard one everywhere but in a guard
    write. What came too early for its stretch is delivered when that stretch is left, at the
    task's next wait. Whoever swallows the cancellation reads `recalled` and `recalled_hard`.
    """

    __slots__ = ("_grip", "_scheduled", "_stand", "_task", "recalled", "recalled_hard")

    def __init__(
        self,
        task: asyncio.Task[object] | None = None,
        stand: Callable[[int], None] = lambda _: None,
    ) -> None:
        """`stand`: told 1 where it begins to stand, -1 where that ends; see `standing`."""
        self._stand = stand
        self.recalled = False
        self.recalled_hard = False
        self._task = task
        self._grip = _Grip.FREE
        self._scheduled = False

    def bind(self, task: asyncio.Task[object]) -> None:
        """Name the task that a recall cancels. Without one, a recall only sets the flags."""
        self._task = task

    def kept(self) -> _Stretch:
        """A stretch that only a hard recall may cancel: the record is claimed."""
        return _Stretch(self, _Grip.KEPT)

    def fixed(self) -> _Stretch:
        """A stretch that no recall cancels: a write whose answer must be known."""
        return _Stretch(self, _Grip.FIXED)

    def standing(self) -> _Standing:
        """A stretch in which it waits for a person, and gives up its place among what is in hand.

        Else what one person stopped would keep out everything else.
        """
        return _Standing(self._stand)

    def recall(self, *, hard: bool) -> None:
        """Call the record back. Repeating a recall changes nothing."""
        if self.recalled_hard or (self.recalled and not hard):
            return
        self.recalled = True
        self.recalled_hard = hard
        self._deliver()

    def tighten(self, grip: _Grip) -> _Grip:
        """Take at least this grip; return the one before, for `loosen`."""
        before = self._grip
        if grip > before:
            self._grip = grip
        return before

    def loosen(self, before: _Grip) -> None:
        self._grip = before
        if self.recalled and not self._scheduled and self._task is not None:
            self._scheduled = True
            self._task.get_loop().call_soon(self._deliver)

    def _deliver(self) -> None:
        # Runs outside the task (a recall, or the loop's next turn), so the task is waiting now and
        # the cancellation can only land in the stretch whose grip is read here.
        self._scheduled = False
        if self._task is not None and self._may_cancel():
            self._task.cancel()

    def _may_cancel(self) -> bool:
        if not self.recalled:
            return False
        return self._grip is _Grip.FREE or (self.recalled_hard and self._grip is _Grip.KEPT)


class _Stretch:
    """`with hold.kept():`, written out: a generator would cost more than all the rest of it."""

    __slots__ = ("_before", "_grip", "_hold")

    def __init__(self, hold: Hold, grip: _Grip) -> None:
        self._hold = hold
        self._grip = grip

    def __enter__(self) -> None:
        self._before = self._hold.tighten(self._grip)

    def __exit__(self, *_: object) -> None:
        self._hold.loosen(self._before)


class _Standing:
    def __init__(self, stand: Callable[[int], None]) -> None:
        self._stand = stand

    def __enter__(self) -> None:
        self._stand(1)

    def __exit__(self, *_: object) -> None:
        self._stand(-1)
