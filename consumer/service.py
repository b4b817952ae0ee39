"""The service: builds the parts, joins them, runs until it is told to stop, and owns every task.

    start     wait for Postgres and Kafka (within start_timeout), open providers, listen, join
    run       the intake hands records to the line; beside it: renewals, heartbeat, resolver, upkeep
    stop      intake first (it drains and commits), then the tasks, then the parts, in reverse order

A task that ends by itself ends the process: whatever it did is not done any more, and silence about
that would be the outage nobody sees.
"""

from __future__ import annotations

import asyncio
import signal
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING

import structlog

from consumer import collector
from consumer.admin import CannotListenError, Heartbeat
from consumer.assembly import Assembly, Running
from consumer.guard import SetupError
from consumer.intake.cluster import KafkaRefusedError, OffsetsLostError
from consumer.intake.loop import StuckError
from consumer.patience import GaveUpError
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
                running = await self._unless_stopped(asyncio.create_task(assembly.start()))
                code = 0 if running is None else await self._work(running)
        except REFUSALS as refusal:
            log.error("cannot go on", reason=str(refusal))  # noqa: TRY400 - told, not traced
            return 1
        log.info("stopped", exit_code=code)
        return code

    async def _unless_stopped(self, starting: asyncio.Task[Running]) -> Running | None:
        """Wait for the start, or for a stop that comes first."""
        stopping = asyncio.create_task(self._stop.wait())
        await asyncio.wait([starting, stopping], return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if starting.done():
            return starting.result()
        starting.cancel()
        await asyncio.wait([starting])
        return None

    async def _work(self, running: Running) -> int:
        renewals = asyncio.create_task(running.guard.renew_forever(), name="renewals")
        rotating = running.rotation.run(running.routes, self._vitals.refused)
        tasks = [
            asyncio.create_task(running.intake.run(), name="intake"),
            asyncio.create_task(running.resolver.run(), name="resolver"),
            asyncio.create_task(running.sweep.run(), name="sweep"),
            asyncio.create_task(rotating, name="rotation"),
            *running.upkeep.tasks(self._pulse),
        ]
        self._vitals.own([renewals, *tasks])
        collector.settle()
        log.info("working")
        stopping = asyncio.create_task(self._stop.wait())
        await asyncio.wait([stopping, renewals, *tasks], return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        code = _verdict([renewals, *tasks])
        await self._shut_down(running, tasks)
        await _ended([renewals])
        return code

    async def _shut_down(self, running: Running, tasks: list[asyncio.Task[None]]) -> None:
        """Leases are renewed to the last: what is still in hand must not pass for abandoned."""
        running.resolver.stop()
        await running.intake.stop(self._budget)
        last = [task for task in tasks if task.get_name() == "resolver"]
        await asyncio.wait(last, timeout=TASK_BUDGET)  # it tells upstream what it settled
        await _ended(tasks)
        with suppress(TimeoutError):
            async with asyncio.timeout(TASK_BUDGET):
                await running.guard.leave()

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
