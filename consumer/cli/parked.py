"""What the service is at by itself, for whoever asks for the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from consumer.guard import LetterStatus
from consumer.guard.desk import Desk
from consumer.guard.operators import Selection


@dataclass(frozen=True, slots=True)
class Parked:
    """What a selection of other letters leaves to the service."""

    number: int = 0
    next_look: datetime | None = None


async def parked(desk: Desk, chosen: Selection) -> Parked:
    if LetterStatus.PARKED in chosen.statuses:
        return Parked()
    at_it = replace(chosen, statuses=(LetterStatus.PARKED,))
    return Parked(await desk.count(at_it), await desk.next_look(at_it))


def told(left: Parked) -> str:
    verb, them = ("is", "it") if left.number == 1 else ("are", "them")
    when = f", next look at {second(left.next_look)}" if left.next_look else ""
    return f"{left.number} {verb} parked: the service is at {them}{when}; to hurry one, name its id"


def second(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
