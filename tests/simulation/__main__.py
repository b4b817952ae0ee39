"""`python -m tests.simulation --schedules N --jobs 2 [--seed S]`: run many worlds."""

from __future__ import annotations

from tests.simulation.running import main

if __name__ == "__main__":
    raise SystemExit(main())
