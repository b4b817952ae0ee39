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
    """All repetitions at one provider latency: cost of each loop, by its name."""

    latency_ms: int
    concurrency: int
    costs: dict[str, list[Cost]] = field(default_factory=dict)

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

    def as_json(self) -> dict[str, object]:
        return {
            "latency_ms": self.latency_ms,
            "concurrency": self.concurrency,
            "records_per_second": {name: asdict(self.rate(name)) for name in self.costs},
            "cpu_us_per_mail": {name: asdict(self.cpu_us(name)) for name in self.costs},
            "guarded_to_unguarded": asdict(self.ratio("guarded", "unguarded")),
            "guarded_to_bare": asdict(self.ratio("guarded", "bare")),
        }


@dataclass
class Report:
    settings: list[Setting]
    per_mail: dict[str, Spread]  # SQL round trips, WAL bytes
    steady: Mapping[str, object]  # append to provider at a steady rate
    postgres: str  # version of the server

    def as_json(self) -> dict[str, object]:
        return {
            "machine": machine(),
            "versions": versions() | {"postgres": self.postgres},
            "throughput": [setting.as_json() for setting in self.settings],
            "per_mail": {name: asdict(spread) for name, spread in self.per_mail.items()},
            "steady": dict(self.steady),
        }

    def write(self, path: Path = RESULTS) -> None:
        path.write_text(json.dumps(self.as_json(), indent=2) + "\n")

    def show(self, console: Console) -> None:
        console.print(_throughput(self.settings))
        console.print(_single(self))


def machine() -> dict[str, object]:
    return {
        "system": platform.platform(terse=True),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "load_before": round(os.getloadavg()[0], 2),
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


def _throughput(settings: list[Setting]) -> Table:
    table = Table(
        title="Mails a second: median, with least and greatest",
        box=box.SIMPLE,
    )
    for heading in (
        "latency",
        "guarded",
        "(a) unguarded",
        "(b) bare",
        "to (a)",
        "to (b)",
        "CPU us",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for setting in settings:
        table.add_row(
            f"{setting.latency_ms} ms",
            *(str(setting.rate(loop)) for loop in ("guarded", "unguarded", "bare")),
            str(setting.ratio("guarded", "unguarded")),
            str(setting.ratio("guarded", "bare")),
            str(setting.cpu_us("guarded")),
        )
    return table


def _single(report: Report) -> Table:
    table = Table(show_header=False, box=box.SIMPLE)
    for name, spread in report.per_mail.items():
        table.add_row(name.replace("_", " ") + " per mail", str(spread).replace("\n", " "))
    for name, value in report.steady.items():
        table.add_row(f"steady: {name.replace('_', ' ')}", str(value))
    return table
