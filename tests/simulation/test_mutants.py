"""The laws bite: without a rule of the guard, the small world finds a run that breaks one."""

from __future__ import annotations

import pytest

from tests.simulation.mutants import MUTANTS, Mutant, caught, hunt


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda it: f"{it.rule}-{it.without}")
def test_each_rule_is_missed(mutant: Mutant) -> None:
    found = hunt(mutant)
    assert caught(found), f"nothing is lost without: {mutant.without}"


def test_a_taker_goes_by_the_attempts_it_judged() -> None:
    """A slower flight used up the round between the look and the takeover: one more than the cap.

    Found by the exploration; the takeover named epoch and status, and not the attempts.
    """
    [mutant] = [it for it in MUTANTS if it.rule == "7a"]
    found = hunt(mutant)
    assert found.broken == "L7: 3 attempts on the row"
    assert any("looks: TakeOver" in line for line in found.story)
