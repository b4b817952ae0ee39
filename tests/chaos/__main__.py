"""`python -m tests.chaos --events 100000 --minutes 20 --seed 7`; its last line is one JSON object.

--takeover N and --frozen N measure one worker's death and sleep, N times; --matrix writes the kill
matrix into tests/README.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import secrets
import sys
from pathlib import Path

from tests.chaos.printing import printed
from tests.chaos.storm import Plan, storm


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--minutes", type=float, default=8.0, help="of the storm itself")
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--kill-every", type=float, default=2.0, metavar="SECONDS")
    parser.add_argument("--patience", type=float, default=1800.0, metavar="SECONDS")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(1 << 31))
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="logs and configurations")
    given = parser.parse_args()
    plan = Plan(
        given.events,
        given.minutes,
        given.seed,
        given.workers,
        given.kill_every,
        given.patience,
        given.keep,
    )
    report = asyncio.run(storm(plan))
    say("\n".join(printed(report)))
    say(json.dumps(report.facts()))
    return 0 if report.in_order else 1


def say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 - what a person, or a program, reads


if __name__ == "__main__":
    sys.exit(main())
