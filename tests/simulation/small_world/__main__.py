"""`python -m tests.simulation.small_world [words of a name]`: explore the small worlds."""

from __future__ import annotations

import sys

from tests.simulation.small_world.explore import explore
from tests.simulation.small_world.worlds import WORLDS


def main() -> int:
    words = sys.argv[1:]
    broken = 0
    for scenario in WORLDS:
        if all(word in scenario.name for word in words):
            found = explore(scenario)
            broken += found.broken is not None
            print(found, flush=True)  # noqa: T201 - a command
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
