"""The service: builds the parts, joins them, runs until it is told to stop, and owns every task.

    start     wait for Postgres and Kafka (within start_timeout), open providers, listen, join
    run       the intake hands records to the line; beside it: renewals, heartbeat, resolver, upkeep
              (in shadow mode: to the shadow, and beside it next to nothing; see `shadow`)
    stop      intake first (it drains and commits), then the tasks, then the parts, in reverse order

A task that ends by itself ends the process: whatever it did is not done any more, and silence about
that would be the outage nobody sees.
"""

from __future__ import annotations

import asyncio
import signal
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Protocol

import structlog

from consumer import collector
from consumer.admin import CannotListenError, Heartbeat
from consumer.assembly import Assembly
from consumer.guard import SetupError
from consumer.intake.cluster import KafkaRefusedError, OffsetsLostError
from consumer.intake.loop import StuckError
from consumer.patience import GaveUpError
from consumer.shadow import starting
from consumer.telemetry import Metrics
from consumer.vitals import Vitals
from consumer.webhooks import WebhookSetupError

if TYPE_CHECKING:
    from consumer.settings import Followed

log = structlog.get_logger("service")

LOOP_LIMIT = 15.0  # seconds of a blocked event loop from which on only a restart helps
STOP_MARGIN = 5.0  # seconds of a stop after the drain: last commits, leaving, closing
TASK_BUDGET = 2.0  # seconds for the tasks beside the intake to end

# What a person can mend: told in one line, without a trace.
REFUSALS = (
    SetupError,
    KafkaRefusedError,
    OffsetsLostError,
    StuckError,
    CannotListenError,
    GaveUpError,
    WebhookSetupError,
)


def run(followed: Followed) -> int:
    """Run until SIGTERM or SIGINT. Exit code 0: stopped in order; 1: refused or failed."""
    return asyncio.run(Service(followed).serve())


class Crew(Protocol):
    """What works between start and stop: the service itself, or its shadow."""

    async def keep(self) -> None:
        """Go on to the very end of a stop."""

    def tasks(self, pulse: Heartbeat, vitals: Vitals) -> list[asyncio.Task[None]]:
        """Start the work; whoever calls owns the tasks."""

    async def stop(self, budget: float) -> str | None:
        """Drain within `budget` seconds; return the name of a task that has last words."""

    async def leave(self) -> None:
        """Say that this process is gone."""


class Service:
    """One process of the service, from start to stop."""

    def __init__(self, followed: Followed) -> None:
        self._followed = followed
        self._budget = followed.now.kafka.drain_timeout + STOP_MARGIN
        self._metrics = Metrics()
        self._pulse = Heartbeat(LOOP_LIMIT)
        self._vitals = Vitals(self._pulse)
        self._stop = asyncio.Event()

    async def serve(self) -> int:
        """Start, work, stop; everything that was opened is closed on the way out."""
        self._listen_for_signals()
        try:
            async with AsyncExitStack() as stack:
                assembly = Assembly(self._followed, self._metrics, self._vitals, stack)
                crew = await self._unless_stopped(asyncio.create_task(self._start(assembly)))
                code = 0 if crew is None else await self._work(crew)
        except REFUSALS as refusal:
            log.error("cannot go on", reason=str(refusal))  # noqa: TRY400 - told, not traced
            return 1
        log.info("stopped", exit_code=code)
        return code

    async def _start(self, assembly: Assembly) -> Crew:
        if self._followed.now.safety.mode == "shadow":
            return await starting.start(assembly)
        return await assembly.start()

    async def _unless_stopped(self, starting: asyncio.Task[Crew]) -> Crew | None:
        """Wait for the start, or for a stop that comes first."""
        stopping = asyncio.create_task(self._stop.wait())
        await asyncio.wait([starting, stopping], return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if starting.done():
            return starting.result()
        starting.cancel()
        await asyncio.wait([starting])
        return None

    async def _work(self, crew: Crew) -> int:
        keeping = asyncio.create_task(crew.keep(), name="renewals")
        tasks = crew.tasks(self._pulse, self._vitals)
        self._vitals.own([keeping, *tasks])
        collector.settle()
        log.info("working")
        stopping = asyncio.create_task(self._stop.wait())
        await asyncio.wait([stopping, keeping, *tasks], return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        code = _verdict([keeping, *tasks])
        await self._shut_down(crew, tasks)
        await _ended([keeping])
        return code

    async def _shut_down(self, crew: Crew, tasks: list[asyncio.Task[None]]) -> None:
        """Leases are renewed to the last: what is still in hand must not pass for abandoned."""
        name = await crew.stop(self._budget)
        if last := [task for task in tasks if task.get_name() == name]:
            await asyncio.wait(last, timeout=TASK_BUDGET)
        await _ended(tasks)
        with suppress(TimeoutError):
            async with asyncio.timeout(TASK_BUDGET):
                await crew.leave()

    def _listen_for_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._signalled)

    def _signalled(self) -> None:
        """First: stop in good order. Again: wait no longer, but still write down what is known."""
        if not self._stop.is_set():
            log.info("stopping", budget=self._budget)
            self._stop.set()
            return
        log.warning("stopping at once")
        if self._vitals.intake is not None:
            self._vitals.intake.hurry()


def _verdict(tasks: list[asyncio.Task[None]]) -> int:
    """A task that ended by itself is a failure, whatever it was."""
    dead = [task for task in tasks if task.done()]
    for task in dead:
        error = None if task.cancelled() else task.exception()
        known = isinstance(error, REFUSALS)
        told = str(error) if known else type(error).__name__
        log.error("a task has ended", task=task.get_name(), error=told, exc_info=_trace(error))
    return 1 if dead else 0


def _trace(error: BaseException | None) -> BaseException | None:
    """A defect is traced; a refusal that a person can mend is told in its own words."""
    return None if isinstance(error, REFUSALS) else error


async def _ended(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks, timeout=TASK_BUDGET)
