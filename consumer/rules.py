"""The written rules that hold a mail back: age, cut-over, and the allow-list outside production."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from consumer.model import Address, Mail, Message, SkipRule

if TYPE_CHECKING:
    from collections.abc import Callable


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Rules:
    """`allow` holds addresses and `@domains`; None: everybody (production).

    `retention`: seconds for which the guard remembers a key.
    """

    allow: Collection[str] | None = None
    redirect_to: str | None = None
    retention: float = math.inf
    now: Callable[[], datetime] = _now

    def holds_back(
        self, mail: Mail, *, replay: bool = False, claimed: bool = False
    ) -> SkipRule | None:
        """Name the rule by which this mail is not sent; asked before each claim and attempt.

        `replay`: a person asked for it, whatever its age, as long as the guard would know of a mail
        of its key. Not whatever its cut-over: what happened before it is the former sender's, who
        has mailed it. `claimed`: the key has a row, so it was ours once, wherever the cut-over was
        moved since.
        """
        if not (claimed or mail.active):
            return SkipRule.BEFORE_ACTIVE_FROM
        if not replay and self.expires_in(mail) <= 0:
            return SkipRule.TOO_OLD
        if replay and not claimed and self._age(mail) >= self.retention:
            return SkipRule.FORGOTTEN
        if self.redirect_to is None and not self._allowed(mail.recipient):
            return SkipRule.NOT_ALLOWED
        return None

    def expires_in(self, mail: Mail) -> float:
        """Seconds until the event is too old to become a mail."""
        return mail.type.max_age - self._age(mail)

    def addressed(self, message: Message) -> Message:
        """Send what the allow-list would block to `redirect_to` instead, if there is one."""
        if self.redirect_to is None or self._allowed(message.to.email):
            return message
        return replace(message, to=Address(self.redirect_to))

    def _age(self, mail: Mail) -> float:
        return (self.now() - mail.occurred_at).total_seconds()

    def _allowed(self, recipient: str) -> bool:
        if self.allow is None:
            return True
        address = recipient.lower()
        return address in self.allow or address[address.rindex("@") :] in self.allow
