"""Rate: a token bucket with a part of its own for mail that cannot wait.

Pure: it is told what time it is. All times are seconds on one monotonic clock.

    rate ──┬─ a fifth ──> reserve (only high takes) ── what overflows ──┐
           └─ the rest ─────────────────────────────────────────────────┴─> common (both take)

So ordinary mail has the whole rate while the reserve is full, and never the reserve itself.
"""

from __future__ import annotations

import math
from enum import Enum

SHARE = 0.2  # of rate and permits kept for high: a reset needs little, and must never need to queue
BURST = 0.1  # seconds of rate that may pile up: absorbs a busy loop, invisible in a count a second
HALF = 0.5  # what a "slow down" leaves of the pace, as TCP does
REGAIN = 0.05  # of the full rate won back a second: from half to full in ten seconds
FLOOR = 0.05  # never slower than one mail in 20 s, or the end of a throttle is never noticed
ENOUGH = 1 - 1e-9  # of a token: sums of fractions round


class Token(Enum):
    """Where a token came from, so that an unused one goes back there."""

    FREE = "no rate is set"
    COMMON = "common"
    RESERVE = "reserve"


class Bucket:
    """Tokens at `rate` a second (None: no limit, until the provider asks for one)."""

    def __init__(self, rate: float | None, now: float) -> None:
        self._rate = rate
        self._pace = math.inf if rate is None else rate
        self._goal = self._pace  # where the pace climbs back to
        self._at = now  # tokens are counted up to here; in the future: standing still
        self._slowed_at = -math.inf
        self._meter = Meter(now)
        self._common = self._size
        self._reserve = self._reserve_size

    @property
    def pace(self) -> float:
        return self._pace

    @property
    def _size(self) -> float:
        return max(1.0, self._pace * BURST)

    @property
    def _reserve_size(self) -> float:
        return max(1.0, self._pace * SHARE * BURST)

    def take(self, now: float, *, high: bool) -> Token | None:
        """A token, or None. O(1)."""
        self._refill(now)
        if now < self._at:
            return None
        if self._pace == math.inf:
            self._meter.count(now)
            return Token.FREE
        if high and self._reserve >= ENOUGH:
            self._reserve -= 1
            return Token.RESERVE
        if self._common >= ENOUGH:
            self._common -= 1
            return Token.COMMON
        return None

    def put_back(self, token: Token) -> None:
        if token is Token.RESERVE:
            self._reserve = min(self._reserve_size, self._reserve + 1)
        elif token is Token.COMMON:
            self._common = min(self._size, self._common + 1)

    def ready_at(self, *, high: bool) -> float:
        """When the next token is there, if nobody takes one before."""
        if self._pace == math.inf:
            return self._at
        wait = self._common_in()
        if high:
            wait = min(wait, (1 - self._reserve) / (self._pace * SHARE))
        return self._at + max(0.0, wait)

    def slow_down(self, now: float, asked_at: float, pause: float) -> None:
        """Stand still for `pause` and go on at half the pace.

        `asked_at`: when the permit of the slowed request was given. A burst that is answered with
        fifty 429 is one event: only requests made since the last halving halve again.
        """
        self._refill(now)
        self._at = max(self._at, now + pause)
        if asked_at > self._slowed_at:
            self._halve(now)

    def set_rate(self, rate: float | None, now: float) -> None:
        """Another share of the fleet's rate; a pace that was slowed keeps its proportion."""
        if rate == self._rate:
            return
        self._refill(now)
        part = 1.0 if self._rate is None or rate is None else self._pace / self._rate
        self._rate = rate
        self._goal = math.inf if rate is None else rate
        self._pace = self._goal * part
        self._clip()

    def _halve(self, now: float) -> None:
        if self._pace == math.inf:
            self._pace = self._goal = self._meter.rate
        self._pace = max(min(FLOOR, self._pace), self._pace * HALF)
        self._slowed_at = now
        self._common = self._reserve = 0.0

    def _refill(self, now: float) -> None:
        gone = now - self._at
        if gone <= 0:
            return
        self._at = now
        if self._pace == math.inf:
            return
        self._pour(gone * self._pace)
        if self._pace < self._goal:
            self._climb(gone)

    def _pour(self, tokens: float) -> None:
        self._reserve += tokens * SHARE
        over = max(0.0, self._reserve - self._reserve_size)
        self._reserve -= over
        self._common = min(self._size, self._common + tokens * (1 - SHARE) + over)

    def _climb(self, gone: float) -> None:
        self._pace = min(self._goal, self._pace + self._goal * REGAIN * gone)
        if self._rate is None and self._pace == self._goal:
            self._pace = self._goal = math.inf

    def _clip(self) -> None:
        self._common = min(self._common, self._size)
        self._reserve = min(self._reserve, self._reserve_size)

    def _common_in(self) -> float:
        """Seconds until a common token: slowly while the reserve fills, then at the whole pace."""
        need = 1 - self._common
        fills_in = (self._reserve_size - self._reserve) / (self._pace * SHARE)
        meanwhile = fills_in * self._pace * (1 - SHARE)
        if need <= meanwhile:
            return need / (self._pace * (1 - SHARE))
        return fills_in + (need - meanwhile) / self._pace


class Meter:
    """How many a second were taken lately: what there is to halve where no rate is set."""

    def __init__(self, now: float) -> None:
        self._since = now
        self._count = 0
        self._last = 0.0

    def count(self, now: float) -> None:
        gone = now - self._since
        if gone >= 1:
            self._last = self._count / gone
            self._since, self._count = now, 0
        self._count += 1

    @property
    def rate(self) -> float:
        return max(1.0, self._last, float(self._count))
