"""What a mail in hand is, on its way from the permit to its outcome."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from consumer.intake.hold import Hold
    from consumer.model import Evidence, Mail, Prepared, Record, Recorded, Transition
    from consumer.providers.permits import Permit
    from consumer.routes import Route


@dataclass(frozen=True, slots=True)
class InHand:
    """A mapped record, and the thread by which it can be called back.

    `replay`: a person asked for it, so its age does not matter. `parked`: it comes from its letter,
    which is due again soon, so it does not stand in line behind a breaker.
    """

    mail: Mail
    record: Record
    hold: Hold
    replay: bool = False
    parked: bool = False


@dataclass(frozen=True, slots=True)
class Departure:
    """Everything that one attempt needs: where to, the leave to go, and the bytes."""

    route: Route
    permit: Permit
    prepared: Prepared


@dataclass(frozen=True, slots=True)
class Doubt:
    """A flight whose mail may have been sent before: it makes one attempt.

    `by`: what an acceptance is then settled by. `until`: when a repeat stops being the same mail,
    on the clock `model.elapsed`. `look_in`: seconds to the next look, if nothing is learned.
    """

    by: Evidence
    look_in: float
    until: float = math.inf


@dataclass(frozen=True, slots=True)
class Landed:
    """The guard row holds an outcome, written by us."""

    transition: Transition
    recorded: Recorded
    provider: str


@dataclass(frozen=True, slots=True)
class Overtaken:
    """Another epoch owns the row by now; look again."""


Landing: TypeAlias = Landed | Overtaken
