"""A mail on its way to the press: what is shown of an event's mail, or why there is none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from email import message_from_bytes
from email.policy import default
from pathlib import Path
from typing import TYPE_CHECKING, Final

import orjson

from consumer.catalogue.errors import CatalogueError
from consumer.providers import mime

if TYPE_CHECKING:
    from consumer.model import Message

_SCHEME: Final = re.compile(r"\(\s*prefers-color-scheme\s*:\s*(dark|light)\s*\)")
_ALWAYS, _NEVER = "(min-width: 0)", "(max-width: 0)"
_AROUND: Final = 2  # lines before and after the one that is wrong
_QUIET: Final = ("mime-version", "content-type")  # the frame of the mail, the same in each


@dataclass(frozen=True, slots=True)
class Proof:
    """One event: its mail, or why there is none."""

    name: str
    mail: Message | str


@dataclass(frozen=True, slots=True)
class Fault:
    """Something to mend. `excerpt`: (line number, text) around the place."""

    text: str
    line: int = 0
    excerpt: tuple[tuple[int, str], ...] = ()


def headers(message: Message) -> list[tuple[str, str]]:
    """Return the headers as a reader's program shows them."""
    parsed = message_from_bytes(mime.render(message), policy=default)
    return [(name, str(value)) for name, value in parsed.items() if name.lower() not in _QUIET]


def hosted(message: Message) -> dict[str, object] | None:
    """Say whose template makes the mail, and of what; None: everybody sends the folder's own."""
    if not message.templates:
        return None
    names = [f"{provider}: {template}" for provider, template in message.templates.items()]
    model = orjson.dumps(message.model, option=orjson.OPT_INDENT_2).decode()
    return {"names": names, "model": model}


def in_scheme(html: str, *, dark: bool) -> str:
    """Show a mail as on a dark or a light screen, whatever the screen is that shows it."""
    wanted = "dark" if dark else "light"
    return _SCHEME.sub(lambda asked: _ALWAYS if asked[1] == wanted else _NEVER, html)


def faults(error: Exception, folder: Path) -> list[Fault]:
    """Say what is wrong, all of it, with the lines around each place."""
    if not isinstance(error, CatalogueError):
        return [Fault(_said(error))]
    return [
        Fault(str(one), one.line, tuple(_excerpt(folder / one.file, one.line)))
        for one in error.problems
    ]


def _said(error: Exception) -> str:
    problems = getattr(error, "problems", None)
    if isinstance(problems, Sequence):
        return "\n".join(map(str, problems))
    return str(error) or type(error).__name__


def _excerpt(file: Path, line: int) -> list[tuple[int, str]]:
    try:
        lines = file.read_text("utf-8", "replace").splitlines() if line else []
    except OSError:
        return []
    first = max(line - 1 - _AROUND, 0)
    return list(enumerate(lines[first : line + _AROUND], start=first + 1))
