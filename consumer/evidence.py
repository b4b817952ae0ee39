"""What to do next about an outcome that nobody knows. Pure.

    repeat      the provider keeps our key, its window is open and the bytes are the same
    ask         it can be asked about a mail, by the account that sent it
    send anew   it was asked late enough, and documents that the mail would be there by then
    wait        its webhook may still tell by itself
    send again  nothing is left to ask, and the type's own policy is to send once more
    open        nothing is left to ask: a person decides

Always in this order: what proves the most and risks the least comes first. Ages are seconds by the
database's clock, read before this is asked: they are at least that by now, which errs on the side
of asking later and of believing a window shorter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

from consumer.model import FIRST_LOOK, OnUnknown

# How long a request whose connection is gone may still be under way to a provider's door.
TRANSIT = 60.0
# A key's window is closed this long before its provider says so: clocks differ, and queues wait.
WINDOW_MARGIN = 300.0
# How long a webhook is waited for before a person, or the policy, is asked. No provider promises
# anything; they deliver within seconds, and what comes later still settles the row.
PUSH_PATIENCE = 120.0
# How long a provider is asked that gives no answer (a key without the right to look, an outage)
# before that counts as nothing to ask.
ASK_PATIENCE = 2 * 3600.0
# Looks for evidence, in seconds since the doubt began; then every LATER.
LOOKS = (FIRST_LOOK, 10.0, 30.0, 120.0, 600.0, 1800.0)
LATER = 3600.0

NEVER = math.inf


@dataclass(frozen=True, slots=True)
class Means:
    """What one provider can tell about a mail whose answer was lost."""

    window: float = 0.0  # seconds for which a repeat is the same mail; 0: never
    visible_after: float | None = None  # seconds until a lookup surely finds; None: no lookup
    absence_proves: bool = False
    pushes: bool = False  # its webhook is configured, and it carries our key


@dataclass(frozen=True, slots=True)
class Case:
    """How an unknown row stands, at the moment of asking."""

    on_unknown: OnUnknown
    attempts_left: int  # of its round
    first_attempt_ago: float
    deadline_ago: float  # since no byte of the last attempt can have left any more; < 0: not yet
    doubt_ago: float
    same_account: bool  # the provider's account of today is the one that sent
    same_bytes: bool  # today's rendering is what was sent
    held_back: bool = False  # a rule forbids to send it by now, or its provider would not take it
    absent: bool = False  # asked, late enough for it to count, and not found
    mute: bool = False  # asked, and it has not said anything for far too long


@dataclass(frozen=True, slots=True)
class Repeat:
    """Send the same bytes under the same key. `within`: seconds that the window is still open."""

    within: float


@dataclass(frozen=True, slots=True)
class Ask:
    pass


@dataclass(frozen=True, slots=True)
class SendAnew:
    """Certainly never sent: the doubt is over, and the mail goes its ordinary way."""


@dataclass(frozen=True, slots=True)
class Wait:
    seconds: float


@dataclass(frozen=True, slots=True)
class SendAgain:
    """The type's policy: once more, while the doubt about the first stands."""


@dataclass(frozen=True, slots=True)
class Open:
    pass


Step: TypeAlias = Repeat | Ask | SendAnew | Wait | SendAgain | Open


def next_step(means: Means, case: Case) -> Step:
    """Say what comes next for an unknown row."""
    within = means.window - WINDOW_MARGIN - case.first_attempt_ago
    if within > 0 and case.same_account and case.same_bytes and _may_send(case):
        return Repeat(within)
    if means.visible_after is not None and case.same_account and not case.mute:
        if not case.absent:
            return Ask()
        if means.absence_proves and case.attempts_left > 0:
            return SendAnew()
    if means.pushes and case.doubt_ago < PUSH_PATIENCE:
        return Wait(PUSH_PATIENCE - case.doubt_ago)
    return _policy(case)


def _policy(case: Case) -> Step:
    """Once more only from the account that is in doubt: the guard lets no other one fly for it."""
    again = case.on_unknown is OnUnknown.RESEND and case.same_account and _may_send(case)
    return SendAgain() if again else Open()


def _may_send(case: Case) -> bool:
    """A repeat is a new mail where the first never arrived: caps and rules hold for it as well."""
    return case.attempts_left > 0 and not case.held_back


def absence_counts_in(visible_after: float, case: Case) -> float:
    """Seconds until "not there" says something; 0: a lookup that begins now counts."""
    return max(0.0, TRANSIT + visible_after - case.deadline_ago)


def look_again_in(doubt_ago: float) -> float:
    """Seconds to the next look, when the last one told nothing."""
    ahead = (look - doubt_ago for look in LOOKS if look > doubt_ago)
    return next(ahead, LATER)
