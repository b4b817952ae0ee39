"""Who may go to a provider now: its rate, its concurrency, its breakers.

A permit is taken BEFORE the guard is claimed, so that claimed means in flight, and there are AHEAD
more of them than requests allowed on the wire, so that the wire does not starve while claims are
under way. The wire itself is a second counter.

    permit = await permits.take(sender, high=high)
    ... claim; found a duplicate: permit.give_back() ...
    async with permit.wire: answer = await provider.attempt(...)
    permit.done(answer)

Nothing here polls: a waiter is woken by a permit that comes back, or by one timer, set for the
earliest moment at which a token or a breaker could let somebody through.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from consumer.model import Answer, Blocked, SlowDown, TooLate
from consumer.providers.backoff import CAP, clamped
from consumer.providers.breaker import State
from consumer.providers.bucket import SHARE, Bucket, Token
from consumer.providers.clock import Alarm, Clock
from consumer.providers.gate import Gate, OnChange, Pass
from consumer.providers.waiters import Group, Waiter, Waiters
from consumer.providers.wire import Place, Wire

AHEAD = 64  # permits beyond the wire's concurrency: they cover a claim's round trip (measured)
PATIENCE = 1.0  # seconds to stand still at least: the unit that providers count rates in
TICK = 0.0001  # seconds; no alarm is set nearer than that, or rounding could make it ring for ever


@dataclass(frozen=True, slots=True)
class Snapshot:
    """How things stand. `pace`: mails a second, inf without limit."""

    state: State
    error: str
    senders: Mapping[str, State]
    out: int
    out_high: int
    waiting: int
    wire: int
    pace: float


class Permit:
    """The right to make one attempt.

    It ends once, by `give_back` or `done`; what is called after that does nothing, so `give_back`
    may stand in a `finally`.
    """

    __slots__ = ("_ended", "_of", "at", "high", "let", "token")

    def __init__(self, of: Permits, let: Pass, token: Token, at: float, *, high: bool) -> None:
        self._of, self._ended = of, False
        self.let, self.token, self.at, self.high = let, token, at, high

    @property
    def probe(self) -> bool:
        """An attempt made with it that certainly did not send does not count."""
        return self.let.probe

    @property
    def wire(self) -> Place:
        """A place on the wire: `async with permit.wire:` around the request."""
        return self._of.wire.place(high=self.high)

    def give_back(self) -> None:
        """No attempt was made: the rate's token returns, a probe leaves its breaker free."""
        self.done(TooLate())

    def done(self, answer: Answer) -> None:
        """An attempt was made; what it came to feeds the breakers and the bucket."""
        if not self._ended:
            self._ended = True
            self._of.hear(self, answer)


class Permits:
    """The permits of one provider in this worker.

    `rate`: mails a second, of the whole fleet (`share` divides it). `concurrency`: of this worker.
    `cap`: seconds; no provider makes us stand still for longer. `on_change`: see `Gate`.
    `on_blocked`: called at every answer that nothing may go out, the first one or a probe's.
    """

    def __init__(
        self,
        provider: str,
        *,
        concurrency: int,
        rate: float | None = None,
        cap: float = CAP,
        on_change: OnChange = lambda *_: None,
        on_blocked: Callable[[], None] = lambda: None,
        clock: Clock | None = None,
    ) -> None:
        self._clock: Clock = clock or asyncio.get_running_loop()
        self.provider, self._rate, self._cap = provider, rate, cap
        self.wire = Wire(concurrency)
        self._total = concurrency + AHEAD
        self._common = self._total - math.ceil(self._total * SHARE)
        self._out, self._out_high = 0, 0
        self._bucket = Bucket(rate, self._clock.time())
        self._gate = Gate(provider, on_change)
        self._on_blocked = on_blocked
        self._waiters = Waiters[Permit]()
        self._alarm: Alarm | None = None

    def try_take(self, sender: str, *, high: bool) -> Permit | None:
        """Return a permit if there is one now and nobody of the same class is before us."""
        if self._waiters:
            self._serve()
        return self._grant(sender, high=high)

    async def take(self, sender: str, *, high: bool) -> Permit:
        """Return a permit: first come, first served in its class. May be cancelled at any time."""
        permit = await self._take(Group(high, sender, patient=True))
        assert permit is not None
        return permit

    async def take_unless_shut(self, sender: str, *, high: bool) -> Permit | None:
        """Like `take`, but None as soon as a breaker is in the way: for who can go elsewhere."""
        return await self._take(Group(high, sender, patient=False))

    def open_for(self, sender: str) -> bool:
        """Say whether a mail could go now as far as breakers go, if only as their probe."""
        return self._gate.admits(sender, self._clock.time())

    def share(self, workers: int) -> None:
        """Take this worker's part of the rate: so many workers of the fleet are alive."""
        if self._rate is not None:
            self._bucket.set_rate(self._rate / max(1, workers), self._clock.time())
            self._serve()

    def renew(self) -> None:
        """Other credentials from now on: where the former were blocked, a probe goes at once."""
        self._gate.renew(self._clock.time())
        self._serve()

    def snapshot(self) -> Snapshot:
        now = self._clock.time()
        return Snapshot(
            state=self._gate.state(now),
            error=self._gate.error,
            senders=self._gate.senders(now),
            out=self._out,
            out_high=self._out_high,
            waiting=len(self._waiters),
            wire=self.wire.taken,
            pace=self._bucket.pace,
        )

    async def _take(self, group: Group) -> Permit | None:
        permit = self.try_take(group.sender, high=group.high)
        if permit is not None or not (group.patient or self.open_for(group.sender)):
            return permit
        waiter = self._waiters.add(group)
        self._set_alarm()
        try:
            return await waiter.future
        except asyncio.CancelledError:
            self._leave(waiter)
            raise

    def _leave(self, waiter: Waiter[Permit]) -> None:
        self._waiters.remove(waiter)
        if waiter.future.cancelled():
            self._set_alarm()
        elif permit := waiter.future.result():  # given in the same turn as the cancellation
            permit.give_back()

    def _grant(self, sender: str, *, high: bool) -> Permit | None:
        now = self._clock.time()
        free = self._has_room(high=high) and self._gate.admits(sender, now)
        token = self._bucket.take(now, high=high) if free else None
        if token is None:
            return None
        self._out += 1
        self._out_high += high
        return Permit(self, self._gate.let_in(sender), token, now, high=high)

    def _has_room(self, *, high: bool) -> bool:
        ordinary = self._out - self._out_high
        return self._out < self._total and (high or ordinary < self._common)

    # ── Waking

    def _serve(self) -> None:
        """Let through who may go now; then whoever will not wait for a breaker leaves."""
        for high in (True, False):
            while self._has_room(high=high) and self._serve_eldest(high=high):
                pass
        now = self._clock.time()
        for group in self._waiters.groups():
            if not group.patient and not self._gate.admits(group.sender, now):
                self._waiters.dismiss(group)
        self._set_alarm()

    def _serve_eldest(self, *, high: bool) -> bool:
        now = self._clock.time()
        waiter = self._waiters.eldest(lambda g: g.high is high and self._gate.admits(g.sender, now))
        permit = None if waiter is None else self._grant(waiter.group.sender, high=high)
        if waiter is None or permit is None:
            return False
        self._waiters.remove(waiter)
        waiter.future.set_result(permit)
        return True

    def _set_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        when = min(map(self._moment, self._waiters.groups()), default=math.inf)
        if when < math.inf:
            when = max(when, self._clock.time() + TICK)
            self._alarm = self._clock.call_at(when, self._serve)

    def _moment(self, group: Group) -> float:
        """When the first of a group could go, if nothing comes back before."""
        if not self._has_room(high=group.high):
            return math.inf
        return max(self._gate.ready_at(group.sender), self._bucket.ready_at(high=group.high))

    # ── Hearing what came of it

    def hear(self, permit: Permit, answer: Answer) -> None:
        """Only for `Permit`: it ends with `answer`."""
        now = self._clock.time()
        self._gate.hear(permit.let, answer, now)
        self._settle_rate(permit, answer, now)
        self._out -= 1
        self._out_high -= permit.high
        if self._waiters:
            self._serve()

    def _settle_rate(self, permit: Permit, answer: Answer, now: float) -> None:
        if isinstance(answer, SlowDown):
            pause = max(PATIENCE, clamped(answer.retry_after, self._cap))
            self._bucket.slow_down(now, permit.at, pause)
        elif isinstance(answer, TooLate):
            self._bucket.put_back(permit.token)
        elif isinstance(answer, Blocked):
            self._on_blocked()
