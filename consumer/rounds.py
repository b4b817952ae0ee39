"""What follows an answer: another attempt, another round, or an end. Pure.

A round is up to `max_attempts` attempts. Between attempts the row waits, its lease held; between
rounds it is parked, its lease ended. Only what certainly was not sent comes back to either.

    Accepted            -> sent
    Transient           -> another attempt; round used up: another round; the last: exhausted
    SlowDown, Blocked,
    TooLate             -> another attempt, and this one does not count
    Refused             -> failed, nobody has to act
    Rejected            -> failed, with a dead letter `rejected`
    Unclear             -> unknown: settled by evidence, never by trying again
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from consumer.model import (
    Accepted,
    Answer,
    Blocked,
    Evidence,
    MarkFailed,
    MarkParked,
    MarkSent,
    MarkUnknown,
    MarkWaiting,
    Reason,
    Refused,
    Rejected,
    SlowDown,
    TooLate,
    Transient,
    Transition,
    Unclear,
)

# When a round is used up the next one begins after 5, 30 and 120 minutes: past a deploy, past an
# incident's first response, past most outages; a type's `max_age` cuts the list short.
NEXT_ROUNDS = (5 * 60.0, 30 * 60.0, 120 * 60.0)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a mail stands when an answer comes in."""

    attempts: int  # started in this round, the answered one included
    round: int  # 0 for the first
    expires_in: float  # seconds until the event is too old to send
    breaker_open: bool  # after this answer was told to it
    probe: bool  # the attempt was a half-open breaker's probe


def after(
    answer: Answer, provider: str, standing: Callable[[], Standing], max_attempts: int
) -> Transition:
    """Say what is written on the row after this answer of `provider`.

    `standing` is asked for only where it matters, which for nearly every mail it does not.
    """
    match answer:
        case Accepted(provider_message_id):
            return MarkSent(provider, provider_message_id)
        case Transient(error):
            return _after_transient(error, standing(), max_attempts)
        case SlowDown(error) | Blocked(error):
            return MarkWaiting(error, give_back=True)
        case TooLate(called_back):
            return MarkWaiting("not started in time", give_back=True, release=called_back)
        case Refused(error):
            return MarkFailed(error)
        case Rejected(error):
            return MarkFailed(error, Reason.REJECTED)
        case Unclear(error):
            return MarkUnknown(error, provider)
        case _:
            assert_never(answer)


def after_in_doubt(
    answer: Answer, provider: str, by: Evidence, look_in: float, *, outage: bool = False
) -> Transition:
    """Say what is written after the answer to one more attempt, the first one still in doubt.

    Only an acceptance says something: whatever became of this attempt is silent about the first.
    `outage`: it was a breaker's probe, or opened it; if it certainly did not send, it does not
    count.
    """
    match answer:
        case Accepted(provider_message_id):
            return MarkSent(provider, provider_message_id, by)
        case SlowDown(error) | Blocked(error):
            return MarkUnknown(error, provider, look_in, give_back=True)
        case TooLate():
            return MarkUnknown("not started in time", provider, look_in, give_back=True)
        case Transient(error):
            return MarkUnknown(error, provider, look_in, give_back=outage)
        case Refused(error) | Rejected(error) | Unclear(error):
            return MarkUnknown(error, provider, look_in)
        case _:
            assert_never(answer)


def _after_transient(error: str, standing: Standing, max_attempts: int) -> Transition:
    """Nothing is exhausted by an outage: an open breaker gives the attempt back."""
    if standing.breaker_open or standing.probe:
        return MarkWaiting(error, give_back=True)
    if standing.attempts < max_attempts:
        return MarkWaiting(error)
    return _after_round(error, standing)


def _after_round(error: str, standing: Standing) -> Transition:
    later = NEXT_ROUNDS[standing.round : standing.round + 1]
    if later and later[0] < standing.expires_in:
        return MarkParked(error, later[0])
    return MarkFailed(error, Reason.EXHAUSTED)
