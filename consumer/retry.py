"""How often a mail is tried in one round, and how long it waits in between."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from consumer.model import SlowDown, Transient
from consumer.providers.backoff import delay

if TYPE_CHECKING:
    from consumer.model import Answer

_JITTER = random.Random()  # noqa: S311 - spreads retries; no secret hangs on it


@dataclass(frozen=True, slots=True)
class Retry:
    """Attempts of one round and the waits between them, in seconds."""

    max_attempts: int = 4
    base: float = 0.5
    cap: float = 30.0

    def pause(self, answer: Answer, attempts: int) -> float:
        """Seconds before the next attempt: full jitter, or what the provider asked for."""
        asked = answer.retry_after if isinstance(answer, Transient | SlowDown) else None
        return delay(attempts, self.base, self.cap, asked, _JITTER)
