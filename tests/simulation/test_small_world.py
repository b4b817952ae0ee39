"""The small world is explored to its end: no order of steps, deaths and lost answers breaks a law.

Here are the worlds that take seconds; `python -m tests.simulation.small_world` explores them all.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.simulation import mutants
from tests.simulation.small_world import worlds
from tests.simulation.small_world.explore import explore
from tests.simulation.small_world.parts import Scenario

# Those that the mutants break first: what they find must be the mutant's doing.
QUICK = (
    worlds.BASIC[0],
    worlds.CALM,
    worlds.UNREADABLE,
    mutants.WEBHOOK,
    replace(mutants.SMALL, rounds=1),
    replace(mutants.SMALL, ages=True),
    replace(mutants.SMALL, deploys=1),
)


@pytest.mark.parametrize("scenario", QUICK, ids=lambda it: it.name)
def test_every_order_of_things_keeps_the_laws(scenario: Scenario) -> None:
    found = explore(scenario)
    assert found.broken is None, str(found)
    assert found.ends > 0
