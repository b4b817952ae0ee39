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
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.chaos import measuring, table
from tests.chaos.matrix import matrix, violations
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
    return say(asyncio.run(chosen(parser.parse_args())))


async def chosen(given: argparse.Namespace) -> Iterable[str | dict[str, Any]]:
    if given.takeover:
        return await measuring.takeover(given.takeover, given.seed)
    if given.frozen:
        return await measuring.frozen(given.frozen, given.seed)
    if given.matrix:
        return await kill_matrix()
    report = await storm(
        Plan(
            given.events,
            given.minutes,
            given.seed,
            given.workers,
            given.kill_every,
            given.patience,
            given.keep,
        )
    )
    return [*printed(report), report.facts()]


async def kill_matrix() -> Iterable[str | dict[str, Any]]:
    cells = await matrix()
    table.write(cells)
    wrong = violations(cells)
    return [*table.table(cells), "", *wrong, {"in_order": not wrong, "cells": len(cells)}]


def say(lines: Iterable[str | dict[str, Any]]) -> int:
    """Print what a person reads, then the facts; return the exit code."""
    facts: dict[str, Any] = {}
    for line in lines:
        facts = line if isinstance(line, dict) else facts
        print(json.dumps(line) if isinstance(line, dict) else line, flush=True)  # noqa: T201
    return 0 if facts["in_order"] else 1


if __name__ == "__main__":
    sys.exit(main())
