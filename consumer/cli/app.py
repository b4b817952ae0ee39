"""The `sendonce` command itself: what all commands share, and what their failures look like.

Exit codes are a contract: 0 done, 1 refused or failed, 2 wrong usage or configuration. A failure
that a person can mend is one clear message on stderr; a traceback is a bug of ours.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from consumer import __version__
from consumer.catalogue import CatalogueError
from consumer.cli import printing
from consumer.cli.printing import printable
from consumer.guard.errors import GuardError
from consumer.intake.cluster import KafkaRefusedError, KafkaUnreachableError
from consumer.settings import SettingsError
from consumer.telemetry import configure_logging

DEFAULT_CONFIG = Path("sendonce.toml")
_AS_JSON = "consumer.cli.as_json"  # in the context that a command shares with its group


@dataclass
class StopError(Exception):
    """End the command with a message for a person. `code`: 1 refused or failed, 2 misused."""

    message: str
    code: int = 1


def _tell_json(ctx: Any, problems: Sequence[Any]) -> None:
    """With `--json`, stdout has its one document in this case too."""
    if ctx.meta.get(_AS_JSON):
        printing.document({"ok": False, "problems": [asdict(problem) for problem in problems]})


_EXAMPLES = re.compile(r"(?<!\x08\n)^Examples?:$", re.MULTILINE)


class Group(TyperGroup):
    """Commands whose help keeps the lines of its examples, by click's mark before them."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        command = super().get_command(ctx, cmd_name)
        if command is not None and command.help is not None:
            command.help = _EXAMPLES.sub("\b\n\\g<0>", command.help)
        return command


class Commands(Group):
    """Turns what may go wrong on a good day into a message and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except StopError as stop:
            raise _ended(stop.message, stop.code) from None
        except (CatalogueError, SettingsError) as errors:
            _tell_json(ctx, errors.problems)
            raise _ended("\n".join(map(str, errors.problems)), 2) from None
        except GuardError as error:
            raise _ended(str(error), 1) from None
        except KafkaUnreachableError as error:
            raise _ended(f"Kafka does not answer: {error}", 1) from None
        except KafkaRefusedError as error:
            raise _ended(f"Kafka refuses: {error}", 1) from None

    def list_commands(self, ctx: Any) -> list[str]:
        """List them in the order in which a newcomer needs them."""
        return sorted(super().list_commands(ctx), key=_rank)


_ORDER = [
    "demo", "check", "key", "render", "catalogue", "send-test", "migrate", "run", "publish", "show",
    "dead-letters", "replay", "settle", "discard", "resend", "audit", "pause", "resume", "import",
    "shadow-report", "forget", "prune",
]  # fmt: skip


def _rank(command: str) -> int:
    return _ORDER.index(command) if command in _ORDER else len(_ORDER)


def _ended(message: str, code: int) -> typer.Exit:
    for line in message.splitlines():
        sys.stderr.write(f"sendonce: {printable(line)}\n")
    return typer.Exit(code)


app = typer.Typer(
    cls=Commands,
    name="sendonce",
    help=(
        "One business event in, exactly one email out.\n\n"
        "First steps:  sendonce demo  shows the whole service on your machine.  "
        "sendonce check  reads configuration and catalogue and names every problem.\n\n"
        "Exit codes: 0 done, 1 refused or failed, 2 wrong usage or configuration."
    ),
    add_completion=False,
    pretty_exceptions_enable=False,  # they print local variables: mails, addresses, secrets
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _chosen(ctx: typer.Context, own: Path) -> Path:
    """Take the command's own `--config`, else the one before the command, else the default."""
    source = ctx.get_parameter_source("config")
    before: Path = ctx.find_root().obj
    return before if source is None or source.name == "DEFAULT" else own


_CONFIG_HELP = "Configuration; variables SENDONCE_SECTION__NAME win over it."
ConfigOption = Annotated[
    Path,
    typer.Option("--config", metavar="FILE", help=_CONFIG_HELP, callback=_chosen),
]


def _noted(ctx: typer.Context, as_json: bool) -> bool:
    ctx.meta[_AS_JSON] = as_json
    return as_json


_JSON_HELP = "One JSON document on stdout instead of text."
JsonOption = Annotated[bool, typer.Option("--json", metavar="", help=_JSON_HELP, callback=_noted)]


@app.callback(invoke_without_command=True)
def sendonce(
    ctx: typer.Context,
    config: Annotated[
        Path, typer.Option("--config", metavar="FILE", help=_CONFIG_HELP)
    ] = DEFAULT_CONFIG,
    version: Annotated[
        bool, typer.Option("--version", metavar="", help="Print the version.")
    ] = False,
) -> None:
    ctx.obj = config
    configure_logging("warning", kafka=False)  # `run` asks for more
    if version:
        typer.echo(f"sendonce {__version__}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
        raise typer.Exit(2)
