"""The table that a person reads, and results.json that a machine compares."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from tests.bench.measure import Cost, Spread

RESULTS = Path(__file__).parent / "results.json"

_PACKAGES = ("aiohttp", "aiokafka", "asyncpg", "jinja2", "jsonschema-rs", "orjson", "pydantic")


@dataclass
class Setting:
    """All repetitions at one provider latency and concurrency: cost of each loop, by its name."""

    latency_ms: int
    concurrency: int
    costs: dict[str, list[Cost]] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.latency_ms} ms, {self.concurrency} at a time"

    def add(self, loop: str, cost: Cost) -> None:
        self.costs.setdefault(loop, []).append(cost)

    def rate(self, loop: str) -> Spread:
        return Spread.of([cost.rate for cost in self.costs[loop]])

    def cpu_us(self, loop: str) -> Spread:
        return Spread.of([cost.cpu_us for cost in self.costs[loop]])

    def ratio(self, loop: str, base: str) -> Spread:
        """Ratio within each repetition: neighbours on the machine slow both loops of it alike."""
        pairs = zip(self.costs[loop], self.costs[base], strict=True)
        return Spread.of([one.rate / other.rate for one, other in pairs])

    def cpu_ratio(self, loop: str, base: str) -> Spread:
        """The same of this process's CPU alone: what a machine with cores to spare would show."""
        pairs = zip(self.costs[loop], self.costs[base], strict=True)
        return Spread.of([other.cpu_us / one.cpu_us for one, other in pairs])

    def as_json(self) -> dict[str, object]:
        return {
            "latency_ms": self.latency_ms,
            "concurrency": self.concurrency,
            "records_per_second": {name: asdict(self.rate(name)) for name in self.costs},
            "cpu_us_per_mail": {name: asdict(self.cpu_us(name)) for name in self.costs},
            "guarded_to_unguarded": asdict(self.ratio("guarded", "unguarded")),
            "guarded_to_bare": asdict(self.ratio("guarded", "bare")),
            "by_cpu_guarded_to_unguarded": asdict(self.cpu_ratio("guarded", "unguarded")),
            "by_cpu_guarded_to_bare": asdict(self.cpu_ratio("guarded", "bare")),
        }


@dataclass
class Report:
    settings: list[Setting]
    per_mail: dict[str, Spread]  # SQL round trips, WAL bytes
    steady: Mapping[str, object]  # append to provider at a steady rate
    postgres: str  # version of the server
    mailed: Mapping[str, int]  # bytes of each request in the rotation
    load: float  # of the machine, before the first repetition

    def as_json(self) -> dict[str, object]:
        return {
            "machine": machine() | {"load_before": self.load},
            "mailed_bytes": dict(self.mailed),
            "versions": versions() | {"postgres": self.postgres},
            "throughput": [setting.as_json() for setting in self.settings],
            "per_mail": {name: asdict(spread) for name, spread in self.per_mail.items()},
            "steady": dict(self.steady),
        }

    def write(self, path: Path = RESULTS) -> None:
        path.write_text(json.dumps(self.as_json(), indent=2) + "\n")

    def show(self, console: Console) -> None:
        console.print(_throughput(self.settings))
        console.print(_cpu(self.settings))
        console.print(_single(self))


def machine() -> dict[str, object]:
    return {
        "system": platform.platform(terse=True),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
    }


def versions() -> dict[str, str]:
    return {"python": platform.python_version()} | {
        name: importlib.metadata.version(name) for name in _PACKAGES
    }


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


_LOOPS = {"guarded": "guarded", "unguarded": "(a) unguarded", "bare": "(b) bare"}


def _throughput(settings: list[Setting]) -> Table:
    table = _table("Mails a second: median, with least and greatest")
    for setting in settings:
        table.add_row(
            str(setting),
            *(str(setting.rate(loop)) for loop in _LOOPS),
            *(str(setting.ratio("guarded", base)) for base in ("unguarded", "bare")),
        )
    return table


def _cpu(settings: list[Setting]) -> Table:
    table = _table("Of this process alone: microseconds of CPU for each mail")
    for setting in settings:
        table.add_row(
            str(setting),
            *(str(setting.cpu_us(loop)) for loop in _LOOPS),
            *(str(setting.cpu_ratio("guarded", base)) for base in ("unguarded", "bare")),
        )
    return table


def _table(title: str) -> Table:
    table = Table(title=title, box=box.SIMPLE)
    for heading in ("provider", *_LOOPS.values(), "to (a)", "to (b)"):
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _single(report: Report) -> Table:
    table = Table(show_header=False, box=box.SIMPLE)
    sizes = ", ".join(f"{name} {size:,} bytes" for name, size in report.mailed.items())
    table.add_row("mailed in turn", sizes)
    table.add_row("load before", f"{report.load} on {len(os.sched_getaffinity(0))} cores")
    for name, spread in report.per_mail.items():
        table.add_row(name.replace("_", " ") + " per mail", str(spread).replace("\n", " "))
    for name, value in report.steady.items():
        table.add_row(f"steady: {name.replace('_', ' ')}", str(value))
    return table
