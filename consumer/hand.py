"""What a mail in hand is, on its way from the permit to its outcome."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from consumer.providers.fetching import Unfetched

if TYPE_CHECKING:
    from consumer.intake.hold import Hold
    from consumer.model import Answer, Evidence, Mail, Prepared, Record, Recorded, Transition
    from consumer.providers.fetching import Files
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


@dataclass(slots=True)
class Departure:
    """Everything that one attempt needs: where to, the leave to go, and the bytes."""

    route: Route
    permit: Permit
    prepared: Prepared
    files: Files | None = None  # of a mail that has some

    @property
    def unfetched(self) -> str | None:
        """Why the files are not at hand, where they are not: the provider is not asked then."""
        return self.files.error if isinstance(self.files, Unfetched) else None

    @property
    def probed(self) -> bool:
        """Whether the attempt was a half-open breaker's probe."""
        return self.permit.probe and self.unfetched is None

    def found_shut(self, sender: str) -> bool:
        """Tell whether the way is shut by now, as far as this attempt has to do with that."""
        return self.unfetched is None and not self.route.permits.open_for(sender)

    def over(self, answer: Answer) -> None:
        """An attempt was made: tell breaker and bucket, if it has anything to say about them."""
        if self.unfetched is None:
            self.permit.done(answer)
        self.give_back()

    def give_back(self) -> None:
        """Let go of permit and bytes: megabytes are not held until the next attempt."""
        self.permit.give_back()
        if self.files is not None:
            self.prepared = replace(self.prepared, body=b"")
            self.files.give_back()


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
