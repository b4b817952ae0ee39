"""`make bench`: a table and results.json. `--profile`: where the time of one email goes."""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import os
import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile

from pydantic import SecretStr
from rich.console import Console

from consumer import collector, providers
from consumer.model import Prepared
from consumer.providers import PostmarkOptions, Provider
from consumer.telemetry import configure_logging
from tests.bench import control, loops, mails
from tests.bench.guarded import TAIL, Bench, Guarded, guarded
from tests.bench.loops import WARM_UP
from tests.bench.measure import Cost, Spread
from tests.bench.report import Report, Setting
from tests.bench.sampling import sampling
from tests.bench.steady import bearable, steady
from tests.parts.kafka import start_kafka
from tests.parts.postgres import start_postgres

STEADY_LATENCY = 0.02  # seconds
CONCURRENCIES = [50, 128]  # as shipped, and what a quick provider's owner might set
WIDTH = 120  # characters, in a pipe


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--mails", type=int, default=3000, help="of one repetition")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--concurrency", type=int, nargs="+", default=CONCURRENCIES, metavar="N")
    parser.add_argument("--latencies", type=int, nargs="+", default=[0, 20, 50], metavar="MS")
    parser.add_argument("--rate", type=int, default=500, help="mails a second, steadily, at most")
    parser.add_argument("--seconds", type=int, default=20, help="of the steady rate")
    return parser.parse_args()


@contextmanager
def started(concurrency: int) -> Iterator[Bench]:
    """Start the parts. Postgres writes to disk for every commit, as in earnest."""
    with start_kafka() as kafka, start_postgres() as postgres, control.double() as double:
        if not kafka.real:
            raise SystemExit(f"the benchmark needs Apache Kafka: {kafka.why_not_real}")
        yield Bench(kafka, postgres, double, concurrency)


async def measure(bench: Bench, given: argparse.Namespace, console: Console) -> Report:
    load = round(os.getloadavg()[0], 2)
    settings: list[Setting] = []
    runs: list[Guarded] = []
    for concurrency, latency in itertools.product(given.concurrency, given.latencies):
        setting = Setting(latency, concurrency)
        settings.append(setting)
        for repetition in range(given.repetitions):
            console.print(f"{setting}, repetition {repetition + 1} of {given.repetitions}")
            runs.append(await repeat(replace(bench, concurrency=concurrency), setting, given.mails))
    rate = bearable(given.rate, min(setting.rate("guarded").median for setting in settings))
    told = await steady(bench, rate, given.seconds, STEADY_LATENCY)
    return Report(
        settings,
        {
            "sql_round_trips": Spread.of([run.statements for run in runs]),
            "wal_bytes": Spread.of([run.wal_bytes for run in runs]),
        },
        told.as_json(),
        await _version(bench),
        _mailed(bench),
        load,
    )


async def repeat(bench: Bench, setting: Setting, count: int) -> Guarded:
    """Run each loop once, in an order drawn anew: no neighbour always slows the same one."""
    order = random.sample(["bare", "unguarded", "guarded"], 3)  # no secret hangs on it
    run: Guarded | None = None
    for loop in order:
        control.restart(bench.double, setting.latency_ms / 1000)
        gc.unfreeze()
        collector.settle()  # as the service does: for the loops beside it as well
        if loop == "guarded":
            run = await guarded(bench, count)
            everything = WARM_UP + count + TAIL
            assert control.accepted(bench.double) == (everything, everything), "once each"
            setting.add(loop, run.cost)
        else:
            setting.add(loop, await _without_guard(bench, loop, count))
    assert run is not None
    return run


async def _without_guard(bench: Bench, loop: str, count: int) -> Cost:
    catalogue = mails.catalogue()
    if loop == "unguarded":
        records = mails.records(WARM_UP + count)
        return await loops.unguarded(records, catalogue, _provider(bench), bench.concurrency)
    return await loops.bare(_requests(bench), count, bench.concurrency)


def _requests(bench: Bench) -> list[Prepared]:
    """Return the request of each mail in the rotation, in its first locale."""
    catalogue, provider = mails.catalogue(), _provider(bench)
    messages = [loops.rendered(record, catalogue) for record in mails.records(len(mails.EXAMPLES))]
    requests = [provider.prepare(message) for message in messages]
    return [request for request in requests if isinstance(request, Prepared)]


def _mailed(bench: Bench) -> dict[str, int]:
    return {
        f"order.receipt {name}": len(request.body)
        for name, request in zip(mails.EXAMPLES, _requests(bench), strict=True)
    }


def _provider(bench: Bench) -> Provider:
    return providers.build(
        mails.PROVIDER,
        PostmarkOptions(token=SecretStr("t"), base_url=bench.double, concurrency=bench.concurrency),
    )


async def _version(bench: Bench) -> str:
    (row,) = await bench.postgres.execute(bench.postgres.dsn, "SHOW server_version")
    return str(row["server_version"])


async def profile(bench: Bench, count: int, console: Console) -> None:
    """Share out the CPU of one guarded run among the stages of a mail."""
    control.restart(bench.double, 0)
    with sampling() as samples:
        run = await guarded(bench, count, samples.restart)
    console.print(f"{run.cost.rate:,.0f} mails/s, {run.cost.cpu_us:.0f} us of CPU each, of which")
    for stage, us in samples.shared_out(run.cost).items():
        console.print(f"{us:8.1f} us  {us / run.cost.cpu_us:4.0%}  {stage}")


def main() -> None:
    given, console = arguments(), Console(highlight=False)
    if not console.is_terminal:
        console.width = WIDTH
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # whoever started parts ends them
    with TemporaryFile() as log, started(given.concurrency[0]) as bench:
        configure_logging(stream=log)  # every attempt writes its line, as in earnest
        if given.profile:
            asyncio.run(profile(bench, given.mails, console))
            return
        report = asyncio.run(measure(bench, given, console))
    report.show(console)
    report.write()
    console.print(f"Written: {Path(__file__).with_name('results.json').relative_to(Path.cwd())}")


if __name__ == "__main__":
    main()
