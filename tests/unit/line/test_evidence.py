"""The order of evidence: what proves the most and risks the least comes first (DESIGN, unknown)."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consumer.evidence import (
    LATER,
    LOOKS,
    PUSH_PATIENCE,
    TRANSIT,
    WINDOW_MARGIN,
    Ask,
    Case,
    Means,
    Open,
    Repeat,
    SendAgain,
    SendAnew,
    Step,
    Wait,
    absence_counts_in,
    look_again_in,
    next_step,
)
from consumer.model import OnUnknown

DAY = 86_400.0
CASE = Case(
    on_unknown=OnUnknown.HOLD,
    attempts_left=3,
    first_attempt_ago=60.0,
    deadline_ago=30.0,
    doubt_ago=60.0,
    same_account=True,
    same_bytes=True,
)
RESEND = replace(CASE, on_unknown=OnUnknown.RESEND)
KEY = Means(window=DAY)
LOOKUP = Means(visible_after=600.0)
DOCUMENTED = Means(visible_after=600.0, absence_proves=True)
PUSH = Means(pushes=True)
NOTHING = Means()


@pytest.mark.parametrize(
    ("means", "case", "step"),
    [
        (KEY, CASE, Repeat(DAY - WINDOW_MARGIN - 60)),
        (KEY, replace(CASE, attempts_left=0), Open()),
        (KEY, replace(CASE, same_bytes=False), Open()),
        (KEY, replace(CASE, same_account=False), Open()),
        (KEY, replace(CASE, first_attempt_ago=DAY - WINDOW_MARGIN), Open()),
        (KEY, replace(CASE, held_back=True), Open()),
        (LOOKUP, CASE, Ask()),
        (LOOKUP, replace(CASE, same_account=False), Open()),
        (LOOKUP, replace(CASE, absent=True), Open()),
        (LOOKUP, replace(RESEND, absent=True), SendAgain()),
        (LOOKUP, replace(RESEND, absent=True, held_back=True), Open()),
        (LOOKUP, replace(CASE, mute=True), Open()),
        (LOOKUP, replace(RESEND, mute=True), SendAgain()),
        (DOCUMENTED, replace(CASE, absent=True, mute=True), Open()),
        (DOCUMENTED, replace(CASE, absent=True), SendAnew()),
        (DOCUMENTED, replace(CASE, absent=True, attempts_left=0), Open()),
        (PUSH, CASE, Wait(PUSH_PATIENCE - 60)),
        (PUSH, replace(CASE, doubt_ago=PUSH_PATIENCE), Open()),
        (PUSH, replace(RESEND, doubt_ago=PUSH_PATIENCE), SendAgain()),
        (NOTHING, CASE, Open()),
        (NOTHING, RESEND, SendAgain()),
        (NOTHING, replace(RESEND, attempts_left=0), Open()),
    ],
)
def test_the_next_step(means: Means, case: Case, step: Step) -> None:
    assert next_step(means, case) == step


seconds = st.floats(0, 30 * DAY)
cases = st.builds(
    Case,
    on_unknown=st.sampled_from(OnUnknown),
    attempts_left=st.integers(0, 4),
    first_attempt_ago=seconds,
    deadline_ago=st.floats(-60, 30 * DAY),
    doubt_ago=seconds,
    same_account=st.booleans(),
    same_bytes=st.booleans(),
    held_back=st.booleans(),
    absent=st.booleans(),
    mute=st.booleans(),
)
means_ = st.builds(
    Means,
    window=st.sampled_from([0.0, DAY, math.inf]),
    visible_after=st.none() | st.sampled_from([0.0, 600.0]),
    absence_proves=st.booleans(),
    pushes=st.booleans(),
)


@given(means_, cases)
def test_hold_never_sends_on_a_guess(means: Means, case: Case) -> None:
    """Bytes leave again only under the provider's own key, or after proof of absence."""
    step = next_step(means, replace(case, on_unknown=OnUnknown.HOLD))
    assert not isinstance(step, SendAgain)
    if isinstance(step, SendAnew):
        assert case.absent
        assert means.absence_proves


@given(means_, cases)
def test_no_attempt_beyond_the_cap(means: Means, case: Case) -> None:
    step = next_step(means, replace(case, attempts_left=0))
    assert isinstance(step, Ask | Wait | Open)


@given(means_, cases)
def test_a_repeat_is_the_same_mail(means: Means, case: Case) -> None:
    """Same account, same bytes, and the window still open when the last byte may leave."""
    step = next_step(means, case)
    if isinstance(step, Repeat):
        assert case.same_account
        assert case.same_bytes
        assert case.first_attempt_ago + step.within <= means.window - WINDOW_MARGIN


@given(means_, cases)
def test_another_account_is_no_witness(means: Means, case: Case) -> None:
    step = next_step(means, replace(case, same_account=False))
    assert not isinstance(step, Repeat | Ask | SendAnew)


@given(st.floats(0, 3600), cases)
def test_absence_counts_from_the_deadline_on(visible_after: float, case: Case) -> None:
    """Not from the claim: a request whose connection is gone may still be under way."""
    counts_in = absence_counts_in(visible_after, case)
    assert counts_in >= 0
    assert case.deadline_ago + counts_in >= TRANSIT + visible_after - 1e-6


@given(seconds)
def test_looks_go_on_and_grow_rarer(doubt_ago: float) -> None:
    assert 0 < look_again_in(doubt_ago) <= LATER
    assert look_again_in(LOOKS[-1]) == LATER
