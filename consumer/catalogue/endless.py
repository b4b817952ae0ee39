"""A template that does not end is stopped: it would hold up every other mail of its worker.

Loops within loops over long lists of an event are enough for that. No render pays for the watch: it
looks by itself, at what has been running since it looked last.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from consumer.catalogue.bidi import PrintError
from consumer.catalogue.engine import Engine

LONGEST: Final = 3.0  # seconds of computing; a receipt of two hundred lines takes a hundredth
ENDLESS: Final = "takes too long: is it a loop in a loop, over long lists?"
_LOOKS: Final = 3
_FILL: Final = Engine.fill.__code__


class _Watch:
    def __init__(self) -> None:
        self._running: FrameType | None = None
        self._met = 0

    def look(self, _number: int, frame: FrameType | None) -> None:
        """Raise into a render that was met at all the last looks; nothing else is disturbed."""
        while frame is not None and frame.f_code is not _FILL:
            frame = frame.f_back
        self._met = self._met + 1 if frame is self._running else 0
        self._running = frame
        if frame is not None and self._met >= _LOOKS:
            raise PrintError(ENDLESS)


@contextmanager
def stopping_endless(longest: float = LONGEST) -> Iterator[None]:
    """Stop what the main thread renders after `longest` seconds of the process's own computing.

    Time in which the machine is busy with others does not count. The timer goes with its handler:
    a Python that ends takes its handlers away first, and a timer left behind would kill it.
    """
    if not hasattr(signal, "setitimer"):  # Windows, where mails are written, not sent
        yield
        return
    signal.signal(signal.SIGVTALRM, _Watch().look)
    signal.setitimer(signal.ITIMER_VIRTUAL, longest / _LOOKS, longest / _LOOKS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
