"""`python -m tests.chaos --events 100000 --minutes 20 --seed 7`; its last line is one JSON object.

--takeover N and --frozen N measure one worker's death and sleep, N times; --matrix writes the kill
matrix into tests/README.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import secrets
import signal
import sys
from pathlib import Path
from typing import Any

from tests.chaos import measuring, table
from tests.chaos.matrix import matrix, violations
from tests.chaos.measuring import Told
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
    parser.add_argument("--takeover", type=int, metavar="N")
    parser.add_argument("--frozen", type=int, metavar="N")
    parser.add_argument("--matrix", action="store_true")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever started parts ends them
    return asyncio.run(say(chosen(given)))


def chosen(given: argparse.Namespace) -> Told:
    if given.takeover:
        return measuring.takeover(given.takeover, given.seed)
    if given.frozen:
        return measuring.frozen(given.frozen, given.seed)
    return kill_matrix() if given.matrix else chaos(given)


async def chaos(given: argparse.Namespace) -> Told:
    plan = Plan(
        given.events,
        given.minutes,
        given.seed,
        given.workers,
        given.kill_every,
        given.patience,
        given.keep,
    )
    report = await storm(plan)
    for line in printed(report):
        yield line
    yield report.facts()


async def kill_matrix() -> Told:
    cells = await matrix()
    table.write(cells)
    wrong = violations(cells)
    for line in [*table.table(cells), "", *wrong]:
        yield line
    yield {"in_order": not wrong, "cells": len(cells)}


async def say(lines: Told) -> int:
    """Print what a person reads, and at the end the facts; return the exit code."""
    facts: dict[str, Any] = {}
    async for line in lines:
        facts = line if isinstance(line, dict) else facts
        print(json.dumps(line) if isinstance(line, dict) else line, flush=True)  # noqa: T201 - what a person reads
    return 0 if facts["in_order"] else 1


if __name__ == "__main__":
    sys.exit(main())
