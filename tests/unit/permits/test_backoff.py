"""The wait before the next attempt lies in [0, cap], whatever a provider says."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consumer.providers.backoff import clamped, delay

FOREVER = 10**30


class Highest(Random):
    """Draws the top of every range."""

    def uniform(self, _a: float, b: float) -> float:
        return b


@given(
    attempt=st.integers(1, FOREVER),
    retry_after=st.none() | st.floats(),
    seed=st.integers(),
)
def test_every_wait_is_between_nothing_and_the_cap(
    attempt: int, retry_after: float | None, seed: int
) -> None:
    assert 0 <= delay(attempt, 0.5, 30, retry_after, Random(seed)) <= 30


def test_the_step_doubles_until_the_cap() -> None:
    steps = [delay(attempt, 0.5, 3, None, Highest()) for attempt in range(1, 6)]
    assert steps == [0.5, 1.0, 2.0, 3.0, 3.0]


def test_jitter_is_full() -> None:
    """Mails that failed together come back anywhere in the step, also at once."""
    drawn = [delay(3, 1, 30, None, Random(seed)) for seed in range(400)]
    assert min(drawn) < 0.1
    assert max(drawn) > 3.9


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [(None, 0), (-5, 0), (0, 0), (1.5, 1.5), (30, 30), (31, 30), (math.inf, 30), (math.nan, 0)],
)
def test_what_a_provider_asks_for_is_clamped(asked: float | None, seconds: float) -> None:
    assert clamped(asked, 30) == seconds


def test_a_provider_is_not_asked_again_before_it_said() -> None:
    assert delay(1, 0.5, 30, 12, Random(1)) == 12
