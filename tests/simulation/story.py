"""What happened in a world, one line an event: kept as it comes, made readable only when asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from consumer.guard import Due
from consumer.model import Fenced, Found, Granted, Lease, Row
from tests.simulation.loop import START


class Story:
    def __init__(self) -> None:
        self.events: list[tuple[float, str, str, tuple[Any, ...]]] = []
        self.count = 0
        self._alarms: list[tuple[int, Callable[[str], None]]] = []
        self._next_alarm = -1
        self._watched: dict[str, list[tuple[int, Callable[[str], None]]]] = {}

    def tell(self, at: float, who: str, what: str, *about: Any) -> None:
        self.events.append((at, who, what, about))
        self.count += 1
        if self.count == self._next_alarm:
            self._ring(who)
        elif what in self._watched:
            self._saw(who, what)

    def note(self, at: float, who: str, what: str, *about: Any) -> None:
        """Tell for the reader only: nothing hangs on it, so a world runs the same without."""
        self.events.append((at, who, what, about))

    def when(self, events: int, do: Callable[[str], None]) -> None:
        """Call `do(who)` right after so many events have happened."""
        self._alarms.append((events, do))
        self._set()

    def when_told(self, what: str, times: int, do: Callable[[str], None]) -> None:
        """Call `do(who)` right after this has happened so many times more."""
        self._watched.setdefault(what, []).append((times, do))

    def _saw(self, who: str, what: str) -> None:
        watched = [(times - 1, do) for times, do in self._watched.pop(what)]
        if left := [(times, do) for times, do in watched if times > 0]:
            self._watched[what] = left
        for times, do in watched:
            if times <= 0:
                do(who)

    def _ring(self, who: str) -> None:
        now = self.count
        due = [do for at, do in self._alarms if at <= now]
        self._alarms = [(at, do) for at, do in self._alarms if at > now]
        self._set()
        for do in due:
            do(who)

    def _set(self) -> None:
        self._next_alarm = min((at for at, _ in self._alarms), default=-1)

    def lines(self, last: int | None = None) -> list[str]:
        """Return `seconds  who  what`, the last so many."""
        chosen = self.events if last is None else self.events[-last:]
        return [_line(*event) for event in chosen]


def _line(at: float, who: str, what: str, about: tuple[Any, ...]) -> str:
    told = " ".join(map(_short, about))
    return f"{at - START:10.3f}  {who:<10} {what:<22} {told}".rstrip()


def _short(thing: object) -> str:
    """Say of a row what the reader of a story wants to know."""
    match thing:
        case Row():
            doubt = " in doubt" if thing.in_doubt else ""
            live = " lease live" if thing.lease_live else ""
            return (
                f"[{thing.key} {thing.status} by {thing.provider}, attempt {thing.attempts} of "
                f"round {thing.round}, epoch {thing.epoch} {thing.token}{doubt}{live}]"
            )
        case Found() | Fenced():
            return f"{type(thing).__name__} {_short(thing.row)}"
        case Granted():
            return f"Granted {_short(thing.lease)}"
        case Lease():
            return f"epoch {thing.epoch} attempt {thing.attempts} round {thing.round}"
        case Due():
            return f"{{letter {thing.letter.id} {thing.letter.reason} {_short(thing.row)}}}"
        case tuple() | list():
            return f"({', '.join(map(_short, thing))})"
        case _:
            return str(thing)
