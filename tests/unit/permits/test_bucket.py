"""Rate: what the token bucket lets through, and what is kept for high."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consumer.providers.bucket import BURST, SHARE, Bucket, Token


def drain(bucket: Bucket, now: float, *, high: bool = False) -> int:
    taken = 0
    while taken < 100_000 and bucket.take(now, high=high) is not None:
        taken += 1
    return taken


def run(bucket: Bucket, start: float, seconds: float, *, high: bool = False) -> int:
    """Take all there is, every time that there is something."""
    now, taken = start, 0
    while now < start + seconds:
        taken += drain(bucket, now, high=high)
        now = max(now + 1e-6, bucket.ready_at(high=high))
    return taken


def test_ordinary_mail_alone_has_the_whole_rate() -> None:
    """The reserve is not a tax: what overflows it goes to everybody."""
    bucket = Bucket(100, 0)
    drain(bucket, 0)
    assert run(bucket, 0, 10) == pytest.approx(1000, abs=2)


def test_the_reserve_is_never_taken_by_ordinary_mail() -> None:
    bucket = Bucket(100, 0)
    drain(bucket, 0)
    assert bucket.take(0, high=True) is Token.RESERVE


def test_high_gets_its_fifth_while_ordinary_mail_takes_all_it_can() -> None:
    bucket, high = Bucket(100, 0), 0
    for tick in range(10_000):
        drain(bucket, tick / 1000)
        high += bucket.take(tick / 1000, high=True) is not None
    assert high == pytest.approx(10 * 100 * SHARE, rel=0.05)


def test_high_takes_from_the_common_part_too() -> None:
    bucket = Bucket(100, 0)
    drain(bucket, 0, high=True)
    assert run(bucket, 0, 10, high=True) == pytest.approx(1000, abs=3)


@given(
    rate=st.floats(0.05, 5000),
    steps=st.lists(st.tuples(st.floats(0, 3), st.booleans()), max_size=60),
)
def test_no_window_sees_more_than_the_rate_and_one_burst(
    rate: float, steps: list[tuple[float, bool]]
) -> None:
    bucket, now, taken = Bucket(rate, 0), 0.0, 0
    for wait, high in steps:
        now += wait
        taken += drain(bucket, now, high=high)
    burst = max(1, rate * BURST) + max(1, rate * SHARE * BURST)
    assert taken <= rate * now + burst + 1e-6


@given(
    rate=st.floats(0.05, 5000),
    waits=st.lists(st.floats(0, 3), max_size=20),
    high=st.booleans(),
)
def test_the_promised_moment_is_true_and_not_too_late(
    rate: float,
    waits: list[float],
    high: bool,  # noqa: FBT001 - drawn by the test
) -> None:
    """At `ready_at` a token is there (an alarm that rings for nothing rings for ever)."""
    bucket, now = Bucket(rate, 0), 0.0
    for wait in waits:
        now += wait
        drain(bucket, now, high=high)
        before = (bucket.ready_at(high=high) - now) * 0.999
        assert bucket.take(now + before, high=high) is None or before * rate < 1e-6
        now = bucket.ready_at(high=high)
        assert bucket.take(now, high=high) is not None


def test_an_unused_token_goes_back_where_it_came_from() -> None:
    bucket = Bucket(10, 0)
    drain(bucket, 0)
    token = bucket.take(0, high=True)
    assert token is Token.RESERVE
    bucket.put_back(token)
    assert bucket.take(0, high=False) is None
    assert bucket.take(0, high=True) is Token.RESERVE


def test_slow_down_stands_still_then_goes_at_half() -> None:
    bucket = Bucket(100, 0)
    drain(bucket, 0)
    bucket.slow_down(1, asked_at=0.5, pause=10)
    assert run(bucket, 1, 9.99, high=True) == 0
    assert run(bucket, 11, 1) == pytest.approx(50, rel=0.15)


def test_a_slowed_pace_is_won_back_step_by_step() -> None:
    bucket = Bucket(100, 0)
    bucket.slow_down(0, asked_at=0, pause=0)
    paces = []
    for second in range(1, 15):
        run(bucket, second, 1)
        paces.append(bucket.pace)
    assert paces == sorted(paces)
    assert paces[4] == pytest.approx(80, abs=6)
    assert paces[-1] == 100


def test_a_burst_of_slow_downs_halves_once() -> None:
    """Fifty requests under way are all answered 429: that is one event, not fifty."""
    bucket = Bucket(100, 0)
    for _ in range(50):
        bucket.slow_down(1, asked_at=0.9, pause=1)
    assert bucket.pace == 50


def test_every_slow_down_prolongs_the_standstill_but_none_shortens_it() -> None:
    bucket = Bucket(100, 0)
    bucket.slow_down(1, asked_at=0.9, pause=9)
    bucket.slow_down(2, asked_at=0.9, pause=1)
    assert bucket.ready_at(high=True) > 10


def test_standing_still_holds_for_tokens_that_are_put_back() -> None:
    bucket = Bucket(100, 0)
    token = bucket.take(0, high=False)
    bucket.slow_down(1, asked_at=0.5, pause=5)
    assert token is not None
    bucket.put_back(token)
    assert bucket.take(2, high=False) is None


def test_where_no_rate_is_set_the_pace_lately_is_what_is_halved() -> None:
    bucket = Bucket(None, 0)
    for mail in range(400):
        assert bucket.take(mail / 100, high=False) is Token.FREE
    bucket.slow_down(4, asked_at=3.99, pause=1)
    assert bucket.pace == pytest.approx(50, rel=0.05)
    for second in range(5, 40):
        bucket.take(second, high=False)
    assert bucket.pace == math.inf


def test_however_often_it_is_slowed_it_never_stops() -> None:
    bucket = Bucket(10, 0)
    for second in range(100):
        bucket.slow_down(second, asked_at=second, pause=0)
    assert run(bucket, 100, 60) > 0


def test_another_share_keeps_what_was_slowed_in_proportion() -> None:
    bucket = Bucket(100, 0)
    bucket.slow_down(0, asked_at=0, pause=0)
    bucket.set_rate(20, 0)
    assert bucket.pace == 10
