"""`sendonce run` and `sendonce migrate`: the service, and the tables that it stands on."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import Annotated

import typer

from consumer import guard, settings
from consumer.cli import printing
from consumer.cli.app import DEFAULT_CONFIG, ConfigOption, JsonOption, app
from consumer.telemetry import configure_logging

Level = StrEnum("Level", ["debug", "info", "warning", "error"])
LevelOption = Annotated[Level, typer.Option(help="Least level of the JSON log lines on stderr.")]


@app.command()
def run(config: ConfigOption = DEFAULT_CONFIG, log_level: LevelOption = Level.info) -> None:
    """Consume, guard and send, until SIGTERM or SIGINT; a second signal stops at once.

    Waits for Kafka and Postgres at the start, for postgres.start_timeout. Logs go to stderr.

    Examples:
      sendonce run
      sendonce run --config /etc/sendonce/sendonce.toml
    """
    from consumer import service  # noqa: PLC0415 - the whole house; other commands do without

    found = settings.follow(config)
    logs = configure_logging(log_level)
    code = service.run(found)
    logs.close()
    raise typer.Exit(code)


@app.command()
def migrate(config: ConfigOption = DEFAULT_CONFIG, as_json: JsonOption = False) -> None:
    """Make or upgrade the tables, and stamp the database with its environment.

    Safe to run again, and by several at once. Uses postgres.migrate_dsn, else postgres.dsn.

    Examples:
      sendonce migrate
      sendonce migrate --json
    """
    found = settings.load(config)
    own = found.postgres.migrate_dsn
    applied = asyncio.run(
        guard.migrate(
            (own or found.postgres.dsn).get_secret_value(),
            environment=found.safety.environment,
            setting="postgres.migrate_dsn" if own else "postgres.dsn",
            password=None if own else found.postgres.password_text,
        )
    )
    if as_json:
        printing.document({"applied": applied, "environment": found.safety.environment})
        return
    for name in applied:
        printing.say(f"applied {name}")
    printing.say(f"The tables are those of this release (environment: {found.safety.environment}).")
