"""The demo from beginning to end. Ended early, at any moment, it takes everything down with it."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

import aiohttp
from rich.console import Console

from consumer.demo import show
from consumer.demo.tally import Outcomes, Tally, kinds, tally
from consumer.demo.traffic import TOPICS, traffic
from consumer.demo.world import World, world
from consumer.guard.counts import count
from consumer.guard.letters import LetterStatus

PATIENCE = 50.0  # seconds for all records to come to an end; what has not by then is told as it is
SETTLING = 15.0  # more for lost answers to be looked up; one not found by then is shown as parked
GLANCE = 0.25  # seconds between two looks at how far it is


class ServiceEndedError(Exception):
    """The service ended by itself; the message says with which code and where its log is."""


async def run(schemas: Path, out: Path, console: Console) -> Tally:
    """Run it all. `CancelledError`: a person has seen enough, and everything is down again."""
    _end_on_signals()
    _empty(out)
    console.print("Starting Kafka, Postgres, and a provider that loses one answer in a hundred")
    async with world(schemas, out) as parts:
        events = traffic(parts.catalogue)
        began = time.monotonic()
        parts.kafka.publish(events)
        console.print(f"Published {len(events):,} events; the service starts")
        service = parts.start_service()
        await _watch(parts, service, console, len(events))
        seconds = time.monotonic() - began
        await _settle(parts, service, console)
        await parts.processes.stop(service)
        return await _counted(parts, console, seconds)


def _empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def _end_on_signals() -> None:
    """End the demo once, in good order; an impatient second Ctrl-C does not disturb that."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    ended = False

    def end() -> None:
        nonlocal ended
        if task is not None and not ended:
            ended = True
            task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, end)


async def _watch(
    parts: World, service: subprocess.Popen[bytes], console: Console, records: int
) -> None:
    """Show how far it is until every offset is committed, or patience ends."""
    until = time.monotonic() + PATIENCE
    with show.progress(console, records) as update:
        while time.monotonic() < until:
            outcomes, committed = await asyncio.to_thread(_glance, parts)
            update(len(outcomes), kinds(outcomes))
            if committed == records:
                return
            _must_run(parts, service)
            await asyncio.sleep(GLANCE)


async def _settle(parts: World, service: subprocess.Popen[bytes], console: Console) -> None:
    """Give the service some seconds to ask the provider about the answers that were lost."""
    until = time.monotonic() + SETTLING
    told = False
    while await _parked(parts) and time.monotonic() < until:
        if not told:
            console.print("Every record is at its end; lost answers are being looked up")
            told = True
        _must_run(parts, service)
        await asyncio.sleep(GLANCE)


async def _parked(parts: World) -> bool:
    letters = (await count(parts.dsn)).letters
    return any(letter.status is LetterStatus.PARKED for letter in letters)


def _must_run(parts: World, service: subprocess.Popen[bytes]) -> None:
    if service.poll() is not None:
        raise ServiceEndedError(f"exit code {service.returncode}; see {parts.log}")


def _glance(parts: World) -> tuple[Outcomes, int]:
    return parts.kafka.read_outcomes(), sum(parts.kafka.committed(TOPICS).values())


async def _counted(parts: World, console: Console, seconds: float) -> Tally:
    outcomes, _ = await asyncio.to_thread(_glance, parts)
    ends = await asyncio.to_thread(parts.kafka.ends, TOPICS)
    guard = await count(parts.dsn)
    files = len(list(parts.mails.glob("*.eml")))
    result = tally(ends, outcomes, guard, await _ledger(parts.double), files, seconds)
    show.result(console, result, guard, files)
    return result


async def _ledger(double: str) -> Mapping[str, int]:
    url = f"{double}/_control/ledger"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        ledger: Mapping[str, int] = await answer.json()
        return ledger
