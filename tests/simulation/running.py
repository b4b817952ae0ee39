"""Running many worlds: on several cores, for a number of schedules or for a time."""

from __future__ import annotations

import argparse
import gc
import logging
import multiprocessing
import secrets
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import structlog

from tests.simulation.loop import PROCESS
from tests.simulation.world import World

CHUNK = 50  # worlds between two looks at the clock, and between two collections of garbage
LAST = 80  # lines of a story that are printed


@dataclass(frozen=True, slots=True)
class Found:
    """A violation, and how it came to it."""

    seed: int
    what: str
    story: list[str] = field(repr=False)


def run_one(seed: int) -> Found | None:
    """Run one world; None: all laws held."""
    world = World(seed)
    try:
        world.run()
    except AssertionError as violation:
        return Found(seed, str(violation), world.story.lines())
    except Exception as defect:  # noqa: BLE001 - whatever it is, it is found
        trace = traceback.format_exc().splitlines()
        return Found(seed, f"defect: {defect!r}", world.story.lines() + trace)
    return None


@contextmanager
def logging_to(world: World | None) -> Iterator[None]:
    """Let the service log into the world's story; None: let it log nothing."""

    def note(_logger: Any, _level: str, event: Any) -> Any:
        assert world is not None
        world.story.note(world.loop.now, PROCESS.get().name, f"log: {event.pop('event')}", event)
        raise structlog.DropEvent

    before = structlog.get_config()
    level = logging.CRITICAL if world is None else logging.INFO
    structlog.configure(
        processors=[note],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=False,
    )
    try:
        yield
    finally:
        structlog.configure(**before)


def run_many(first: int, count: int) -> list[Found]:
    """Run the worlds of so many seeds from `first` on."""
    gc.disable()
    gc.freeze()  # what was there before the worlds is not looked at again
    with logging_to(None):
        found = [one for seed in range(first, first + count) if (one := run_one(seed))]
    gc.collect()
    gc.enable()
    return found


def _chunk(first: int) -> list[Found]:
    return run_many(first, CHUNK)


def tell(found: Found, last: int = LAST) -> None:
    print(f"\nseed {found.seed}: {found.what}")  # noqa: T201 - a command
    for line in found.story[-last:]:
        print("   ", line)  # noqa: T201 - a command


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation")
    parser.add_argument("--schedules", type=int, default=1000)
    parser.add_argument("--seconds", type=float, help="run for so long instead")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=None, help="the first; default: a new one")
    parser.add_argument("--story", action="store_true", help="run one seed and tell all of it")
    parser.add_argument("--most", type=int, default=5, help="violations to print")
    asked = parser.parse_args()
    first = secrets.randbelow(10**12) if asked.seed is None else asked.seed
    if asked.story:
        return _tell_all(first)
    began = time.perf_counter()
    found: list[Found] = []
    schedules = 0
    with multiprocessing.Pool(asked.jobs) as pool:
        while _goes_on(schedules, time.perf_counter() - began, asked):
            firsts = [first + schedules + n * CHUNK for n in range(asked.jobs * 2)]
            for some in pool.imap_unordered(_chunk, firsts):
                for one in some[: max(0, asked.most - len(found))]:
                    tell(one)
                found += some
            schedules += len(firsts) * CHUNK
    seconds = time.perf_counter() - began
    print(  # noqa: T201 - a command
        f"\nseeds from {first}: {schedules} schedules, {len(found)} violations, {seconds:.1f} s, "
        f"{schedules / seconds:.0f} a second on {asked.jobs} cores"
    )
    for law, count in Counter(one.what.partition(":")[0] for one in found).most_common():
        print(f"  {law}: {count}, seeds {[o.seed for o in found if o.what.startswith(law)][:8]}")  # noqa: T201 - a command
    return 1 if found else 0


def _goes_on(schedules: int, seconds: float, asked: argparse.Namespace) -> bool:
    if asked.seconds is not None:
        return bool(seconds < asked.seconds)
    return bool(schedules < asked.schedules)


def _tell_all(seed: int) -> int:
    world = World(seed)
    with logging_to(world):
        try:
            world.run()
        except Exception:  # noqa: BLE001 - told below
            print("\n".join(world.story.lines()))  # noqa: T201 - a command
            traceback.print_exc()
            return 1
    print("\n".join(world.story.lines()))  # noqa: T201 - a command
    print(world.loop.steps, "steps")  # noqa: T201 - a command
    return 0
