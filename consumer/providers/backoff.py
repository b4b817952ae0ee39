"""How long to wait before the next attempt."""

from __future__ import annotations

from random import Random

CAP = 30.0  # seconds, and no wait is longer, whatever a provider asks for; `retry.cap`


def delay(
    attempt: int, base: float, cap: float, retry_after: float | None, random: Random
) -> float:
    """Return the seconds from attempt number `attempt` (from 1) to the one after it.

    Full jitter: anywhere between nothing and the exponential step, so that mails which failed
    together do not come back together. The provider's own `retry_after` is a lower bound, clamped
    to [0, cap] like everything else.
    """
    step = min(cap, base * 2 ** min(attempt - 1, 32))
    wait = random.uniform(0, step)
    return min(cap, max(wait, clamped(retry_after, cap)))


def clamped(seconds: float | None, cap: float) -> float:
    """Return what a provider asked for, in [0, cap]; nothing and nonsense (NaN) are 0."""
    if seconds is None or not seconds > 0:
        return 0.0
    return min(cap, seconds)
