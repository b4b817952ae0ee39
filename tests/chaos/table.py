"""The kill matrix as a table in tests/README.md, between two markers."""

from __future__ import annotations

import importlib.metadata
import platform
import re
import subprocess
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from tests.chaos.alone import LEASE, SESSION
from tests.chaos.deaths import DEATHS
from tests.chaos.matrix import PROVIDERS, Cell
from tests.parts.kafka_server import LIBS

README: Final = Path(__file__).parents[1] / "README.md"
BEGIN: Final = "<!-- kill matrix: begin -->"
END: Final = "<!-- kill matrix: end -->"

Cells = Mapping[tuple[str, str], Cell | str]


def write(cells: Cells) -> None:
    text = README.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    if not after:
        raise ValueError(f"{README.name} has no place for it: {BEGIN} ... {END}")
    README.write_text("\n".join([before + BEGIN, "", *table(cells), "", END + after]))


def table(cells: Cells) -> Iterator[str]:
    lost = sum(cell.lost for cell in cells.values() if isinstance(cell, Cell))
    twice = sum(cell.twice for cell in cells.values() if isinstance(cell, Cell))
    met = sum(isinstance(cell, Cell) for cell in cells.values())
    yield f"{met} deaths, {lost} mails lost, {twice} mails twice. {_versions()}"
    yield ""
    yield f"| killed | {' | '.join(PROVIDERS)} |"
    yield f"|---|{'---|' * len(PROVIDERS)}"
    for moment in DEATHS:
        yield f"| {moment} | {' | '.join(str(cells[name, moment]) for name in PROVIDERS)} |"


def _versions() -> str:
    kafka = next((re.sub(r"\D*2\.13-|\.jar", "", jar.name) for jar in _broker()), "unknown")
    return (
        f"Made by `python -m tests.chaos --matrix` on {datetime.now(UTC):%Y-%m-%d} with Apache"
        f" Kafka {kafka}, PostgreSQL {_postgres()}, Python {platform.python_version()}, aiokafka"
        f" {importlib.metadata.version('aiokafka')}, asyncpg"
        f" {importlib.metadata.version('asyncpg')}; lease {LEASE:.0f} s, session timeout"
        f" {SESSION:.0f} s."
    )


def _broker() -> Iterator[Path]:
    return LIBS.glob("kafka_2.13-*.jar")


def _postgres() -> str:
    for place in sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), reverse=True):
        told = subprocess.run([place, "--version"], capture_output=True, check=True).stdout
        return told.decode().split()[2]
    return "of the wheel"
