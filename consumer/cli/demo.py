"""`sendonce demo`: the whole service on this machine, with a provider that loses answers."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

import typer
from rich.console import Console

from consumer.cli.app import JsonOption, StopError, app
from consumer.cli.codes import STOPPED

OUT = Path("out") / "demo"
SCHEMAS = Path(__file__).resolve().parents[2] / "schemas"


@app.command()
def demo(json_only: JsonOption = False) -> None:
    """Show the whole service on embedded Kafka and Postgres: 2,000 events, under a minute.

    Needs the extra `demo` and a clone of the repository. The last line on stdout is one JSON
    object, counted by the provider's ledger, the guard and the topics' offsets. Exit code 1 if a
    record is lost or a mail was accepted twice.
    """
    _check_parts()
    from consumer.demo import run, show, world  # noqa: PLC0415 - needs the extra `demo`

    console = Console(stderr=json_only, highlight=False)
    try:
        tally = asyncio.run(run.run(SCHEMAS, OUT, console))
    except (asyncio.CancelledError, KeyboardInterrupt):
        raise StopError("stopped; nothing is left running", STOPPED) from None
    except world.NotHereError as missing:
        raise StopError(str(missing)) from None
    except run.ServiceEndedError as ended:
        raise StopError(f"the service ended early: {ended}") from None
    show.next_steps(console, OUT)
    typer.echo(json.dumps(asdict(tally)))
    if not tally.kept_the_promise:
        raise typer.Exit(1)


def _check_parts() -> None:
    if find_spec("confluent_kafka") is None or not (SCHEMAS / "order.receipt").is_dir():
        raise StopError("the demo runs in a clone of the repository, with its extra: make demo", 2)
