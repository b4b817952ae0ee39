"""`python -m tests.simulation --schedules N --jobs 2 [--seed S]`: run worlds, say what they showed."""

from __future__ import annotations

from tests.simulation.running import main

if __name__ == "__main__":
    raise SystemExit(main())
