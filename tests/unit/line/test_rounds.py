"""What follows an answer, row by row of DESIGN's error table."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    Scope,
    SlowDown,
    TooLate,
    Transient,
    Transition,
    Unclear,
)
from consumer.rounds import NEXT_ROUNDS, Standing, after_in_doubt
from consumer.rounds import after as after_answer

MAX = 4
FIRST = Standing(1, 0, 86_400.0, breaker_open=False, probe=False)
LAST = replace(FIRST, attempts=MAX)


def after(answer: Answer, standing: Standing) -> Transition:
    return after_answer(answer, "postmark", lambda: standing, MAX)


@pytest.mark.parametrize(
    ("answer", "standing", "expected"),
    [
        (Accepted("m-1"), FIRST, MarkSent("postmark", "m-1")),
        (Transient("503"), FIRST, MarkWaiting("503")),
        (Transient("503"), LAST, MarkParked("503", NEXT_ROUNDS[0])),
        (Transient("503"), replace(LAST, round=1), MarkParked("503", NEXT_ROUNDS[1])),
        (Transient("503"), replace(LAST, round=2), MarkParked("503", NEXT_ROUNDS[2])),
        (Transient("503"), replace(LAST, round=3), MarkFailed("503", Reason.EXHAUSTED)),
        (Transient("503"), replace(LAST, expires_in=299.0), MarkFailed("503", Reason.EXHAUSTED)),
        (Transient("503"), replace(LAST, breaker_open=True), MarkWaiting("503", give_back=True)),
        (Transient("503"), replace(LAST, probe=True), MarkWaiting("503", give_back=True)),
        (SlowDown("429"), LAST, MarkWaiting("429", give_back=True)),
        (Blocked("401", Scope.ACCOUNT), LAST, MarkWaiting("401", give_back=True)),
        (Refused("406"), FIRST, MarkFailed("406")),
        (Rejected("300"), FIRST, MarkFailed("300", Reason.REJECTED)),
        (Unclear("read timeout"), FIRST, MarkUnknown("read timeout", "postmark")),
        (Unclear("read timeout"), LAST, MarkUnknown("read timeout", "postmark")),
    ],
)
def test_each_class_of_answer_has_one_consequence(
    answer: Answer, standing: Standing, expected: Transition
) -> None:
    assert after(answer, standing) == expected


@pytest.mark.parametrize("called_back", [True, False])
def test_what_never_left_does_not_count(*, called_back: bool) -> None:
    transition = after(TooLate(called_back), LAST)
    assert isinstance(transition, MarkWaiting)
    assert transition.give_back
    assert transition.release is called_back


standings = st.builds(
    Standing,
    attempts=st.integers(1, MAX),
    round=st.integers(0, 5),
    expires_in=st.floats(-1e6, 1e6),
    breaker_open=st.booleans(),
    probe=st.booleans(),
)
uncertain = st.builds(Unclear, st.just("?"))
certain = st.one_of(
    st.builds(Transient, st.just("x")), st.builds(SlowDown, st.just("x")), st.just(Blocked("x"))
)


@given(uncertain, standings)
def test_nobody_knows_is_never_tried_again(answer: Answer, standing: Standing) -> None:
    assert isinstance(after(answer, standing), MarkUnknown)


@given(certain, standings)
def test_an_outage_never_exhausts_a_mail(answer: Answer, standing: Standing) -> None:
    """An open breaker, or its probe, gives the attempt back whatever the cap says."""
    transition = after(answer, replace(standing, breaker_open=True))
    assert transition == MarkWaiting("x", give_back=True)


@given(standings)
def test_rounds_end(standing: Standing) -> None:
    """The last round, or an event too old for the next one, ends in a dead letter."""
    ended = replace(standing, attempts=MAX, breaker_open=False, probe=False)
    transition = after(Transient("x"), ended)
    if ended.round >= len(NEXT_ROUNDS) or ended.expires_in <= NEXT_ROUNDS[ended.round]:
        assert transition == MarkFailed("x", Reason.EXHAUSTED)
    else:
        assert transition == MarkParked("x", NEXT_ROUNDS[ended.round])


@given(
    st.one_of(certain, uncertain, st.just(Refused("r")), st.just(Rejected("r")), st.just(TooLate()))
)
def test_in_doubt_only_an_acceptance_says_something(answer: Answer) -> None:
    """A "connect refused" of the repeat says nothing about the first attempt."""
    transition = after_in_doubt(answer, "p", Evidence.REPEAT, 30.0)
    assert isinstance(transition, MarkUnknown)
    assert transition.look_in == 30.0
    assert transition.give_back is isinstance(answer, SlowDown | Blocked | TooLate)


def test_in_doubt_an_outage_uses_no_attempt_up_that_certainly_did_not_send() -> None:
    """Else a few probes of one outage would leave a mail no repeat under its native key."""
    transition = after_in_doubt(Transient("t"), "p", Evidence.REPEAT, 30.0, outage=True)
    assert transition == MarkUnknown("t", "p", 30.0, give_back=True)
    unclear = after_in_doubt(Unclear("u"), "p", Evidence.REPEAT, 30.0, outage=True)
    assert unclear == MarkUnknown("u", "p", 30.0)


def test_in_doubt_an_acceptance_names_its_evidence() -> None:
    transition = after_in_doubt(Accepted("m-1"), "p", Evidence.POLICY, 30.0)
    assert transition == MarkSent("p", "m-1", Evidence.POLICY)
