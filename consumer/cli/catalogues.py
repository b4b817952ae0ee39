"""Opening a catalogue for a command: with the configuration, or without one.

People who edit mail types check them in a repository that holds no broker, no database and no
secret. So a catalogue can be read by itself: then every sender's and provider's name is taken as
given, and a stand-in signs the fingerprints.
"""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from consumer import catalogue, parts, settings
from consumer.catalogue import Catalogue
from consumer.cli.app import DEFAULT_CONFIG
from consumer.events import decode
from consumer.model import Address

DEFAULT_CATALOGUE = Path("schemas")

CatalogueOption = Annotated[
    Path | None,
    typer.Option(
        "--catalogue",
        metavar="FOLDER",
        help="Read this catalogue by itself, without a configuration.",
        show_default=False,
    ),
]


def open_catalogue(config: Path, alone: Path | None) -> Catalogue:
    """Load the catalogue; raises `CatalogueError` or `SettingsError`.

    `alone`: a catalogue to read without a configuration. Where neither it nor any setting is
    there, `schemas` is read that way.
    """
    if alone is not None or not is_configured(config):
        return _by_itself(alone or DEFAULT_CATALOGUE)
    return parts.open_catalogue(settings.load(config))


def catalogue_folder(config: Path, alone: Path | None) -> Path:
    """Name the folder that `open_catalogue` reads."""
    if alone is not None or not is_configured(config):
        return alone or DEFAULT_CATALOGUE
    return settings.load(config).catalogue.path


def is_configured(config: Path) -> bool:
    """Tell whether there is a file or a variable that says anything."""
    named = config != DEFAULT_CONFIG or config.exists()
    return named or any(re.match(r"SENDONCE_[A-Z]+__", name) for name in os.environ)


def _by_itself(path: Path) -> Catalogue:
    declared = _declarations(path)
    senders = {name for one in declared for name in _texts(one, "sender", "reply_to")}
    providers = {name for one in declared for name in _texts(one, "providers", "template")}
    return catalogue.load(
        path,
        senders=dict.fromkeys(senders, Address("sender@sender.example", "Sender")),
        providers=sorted(providers) or ["default"],
        retention=math.inf,
        fingerprint_key=b"only for checking",
        decode=decode,
    )


def _declarations(path: Path) -> list[dict[str, object]]:
    """Read what can be read of every mail.toml; its mistakes are told by `load`."""
    declared: list[dict[str, object]] = []
    with suppress(OSError):
        for file in filter(Path.is_file, path.glob("*/mail.toml")):  # a pipe would be waited for
            with suppress(OSError, ValueError, RecursionError):
                declared.append(tomllib.loads(file.read_text("utf-8-sig")))
    return declared


def _texts(declared: Mapping[str, object], *members: str) -> list[str]:
    values = [declared.get(member) for member in members]
    flat = [one for value in values for one in (value if isinstance(value, list) else [value])]
    return [one for one in flat if isinstance(one, str)]
