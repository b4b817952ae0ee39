"""`sendonce check`: everything that is wrong with configuration and catalogue, at once."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from consumer.catalogue import Catalogue, CatalogueError
from consumer.catalogue.against import dangers
from consumer.catalogue.folder import read_files
from consumer.cli import printing
from consumer.cli.app import DEFAULT_CONFIG, ConfigOption, JsonOption, app
from consumer.cli.catalogues import (
    CatalogueOption,
    catalogue_folder,
    is_configured,
    open_catalogue,
)
from consumer.cli.revisions import files_at

AgainstOption = Annotated[
    str | None,
    typer.Option(
        "--against",
        metavar="OLD",
        help="Refuse what must not follow OLD: a git revision, or a folder.",
        show_default=False,
    ),
]


@app.command()
def check(
    catalogue: CatalogueOption = None,
    against: AgainstOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    as_json: JsonOption = False,
) -> None:
    """Check configuration and catalogue; every example is mapped and rendered.

    All problems are printed with file and line. Needs no broker and no database, and no
    configuration either where a catalogue is named: made for the CI of who edits mail types.

    With `--against` (the branch to merge into, say), changes of schemas, keys and contexts are
    refused that would mail somebody twice, or set events aside that are on their way.

    Examples:
      sendonce check
      sendonce check --catalogue schemas --json
      sendonce check --catalogue schemas --against origin/main
    """
    try:
        opened = open_catalogue(config, catalogue)
    except CatalogueError as errors:
        _tell_problems(errors, catalogue_folder(config, catalogue), as_json=as_json)
        raise typer.Exit(1) from None
    folder = catalogue_folder(config, catalogue)
    compared = None if against is None else _compare(against, folder, as_json=as_json)
    whole = catalogue is None and is_configured(config)
    _tell_types(opened, config, whole=whole, as_json=as_json)
    if compared and not as_json:
        printing.say(compared)


def _compare(against: str, folder: Path, *, as_json: bool) -> str:
    """Return what to say where no danger was found."""
    before = files_at(against, folder)
    found = dangers(before, read_files(folder), datetime.now(UTC))
    if found:
        _tell_problems(CatalogueError(found), folder, as_json=as_json)
        raise typer.Exit(1)
    if not any(name.endswith("/mail.toml") for name in before):
        return f"{against} has no mail type in {folder}: NOTHING was compared (was it moved?)"
    return f"held against {against}: nothing is mailed twice or set aside by it"


def _tell_problems(errors: CatalogueError, folder: Path, *, as_json: bool) -> None:
    found = [replace(problem, file=_reachable(folder, problem.file)) for problem in errors.problems]
    if as_json:
        printing.document({"ok": False, "problems": [asdict(problem) for problem in found]})
        return
    for problem in found:
        printing.say(str(problem), "red")
    printing.say("1 problem" if len(found) == 1 else f"{len(found)} problems")


def _reachable(folder: Path, file: str) -> str:
    """Name the file as it can be opened from here; not all problems lie in a file."""
    first = file.partition("/")[0] or file
    with suppress(OSError):
        return str(folder / file) if first and os.path.lexists(folder / first) else file
    return file


_UNCHECKED = ("senders", "providers", "retention")  # what only a configuration says


def _tell_types(catalogue: Catalogue, config: Path, *, whole: bool, as_json: bool) -> None:
    types = [
        {
            "mail_type": mail_type.name,
            "topic": mail_type.topic,
            "providers": list(mail_type.providers),
            "sender": mail_type.sender,
            "priority": mail_type.priority,
            "max_age_seconds": mail_type.max_age,
            "on_unknown": mail_type.on_unknown,
            "examples": [e.name for e in catalogue.examples if e.mail_type == mail_type.name],
        }
        for mail_type in catalogue.types.values()
    ]
    if as_json:
        unchecked = [] if whole else _UNCHECKED
        printing.document(
            {"ok": True, "problems": [], "not_checked": unchecked, "mail_types": types}
        )
        return
    columns = ("mail_type", "topic", "providers", "sender", "priority", "on_unknown", "examples")
    printing.table(columns, ([_text(row[name]) for name in columns] for row in types))
    printing.say("no problems", "green")
    if not whole:
        why = "--catalogue" if is_configured(config) else f"no {config}"
        printing.say(f"{why}: senders, providers and retention were not checked")


def _text(value: object) -> str:
    return ", ".join(value) if isinstance(value, list) else str(value)
