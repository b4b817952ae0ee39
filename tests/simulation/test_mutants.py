"""The laws bite: without a rule of the guard, the small world finds a run that breaks one."""

from __future__ import annotations

import pytest

from tests.simulation.mutants import MUTANTS, Mutant, caught, hunt


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda it: f"{it.rule}-{it.without}")
def test_each_rule_is_missed(mutant: Mutant) -> None:
    found = hunt(mutant)
    assert caught(found), f"nothing is lost without: {mutant.without}"
