"""Worlds that nobody has seen before, each run; and those that once showed a bug.

python -m tests.simulation --schedules 100000 --jobs 2     the big run
python -m tests.simulation --story --seed S                one world, told line by line
"""

from __future__ import annotations

import secrets
import subprocess
import sys

import pytest

from tests.simulation.running import logging_to, run_one
from tests.simulation.world import World

SECONDS = 30  # of one core; `make simulation` for more

# seed -> what it showed. A seed names a world only as long as nothing changes what is drawn before:
# whoever changes the drawing finds such a seed anew, by taking the mended rule out again.
BUGS = {
    81: "an unknown mail, by policy once more from another account: the guard refused it for ever",
    837: "the same, after a rolling deploy",
    700055418: "a letter was due while its record's own flight failed: all its attempts once more",
    810005440: "a deploy that cannot read an unknown mail's record ends the search for evidence",
    990794937459: "a stop cut off the write of an acceptance in the resolver's hands: sent again",
}


@pytest.mark.timeout(300)
def test_laws_hold_in_new_worlds() -> None:
    """L1 to L7, over schedules with new seeds; the first seed is printed."""
    first = str(secrets.randbelow(10**12))
    command = [sys.executable, "-m", "tests.simulation", "--seed", first, "--seconds", str(SECONDS)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    print(run.stdout)  # noqa: T201 - what was run, for whoever reads what the test says
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("seed", BUGS, ids=str)
def test_a_bug_that_was_found_stays_mended(seed: int) -> None:
    with logging_to(None):
        found = run_one(seed)
    assert found is None, f"{found.what}\n" + "\n".join(found.story)


def test_a_seed_names_one_world() -> None:
    """The same seed, the same events at the same times: a violation can be told again."""
    with logging_to(None):
        stories = [_story_of(12345), _story_of(12345)]
    assert stories[0] == stories[1]


def _story_of(seed: int) -> list[str]:
    world = World(seed)
    world.run()
    return world.story.lines()
