"""`schemas/README.md` as a thing to walk: its files, its commands, its publishers.

A block under a line that is nothing but `a/file/name` is that file; a block of kind `sh` is typed
into a shell, line by line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

README: Final = Path(__file__).parents[2] / "schemas" / "README.md"
MAIL: Final = "invoice.overdue"
WORKFLOW: Final = ".github/workflows/mails.yml"

_FILE: Final = re.compile(r"^`(\S+)`\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SHELL: Final = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_KCAT: Final = re.compile(r"^```kcat\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def text() -> str:
    return README.read_text("utf-8")


def files() -> dict[str, str]:
    """Return every file that the page shows, by its name."""
    found = _FILE.findall(text())
    named = dict(found)
    assert len(named) == len(found), "a file is shown twice"
    return named


def write(folder: Path, *, topic: str = "invoices") -> None:
    """Write all of them, with another topic: the broker of the tests is everybody's."""
    for name, content in files().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content.replace('"invoices"', f'"{topic}"'))


def commands(program: str = "sendonce") -> Iterator[list[str]]:
    """Yield the words of every command line of the program, in the page's order."""
    for block in _SHELL.findall(text()):
        for line in block.splitlines():
            words = line.partition("#")[0].split()
            if words[:1] == [program]:
                yield words[1:]


def checks() -> list[str]:
    """Return the commands of the program in the CI workflow that the page shows."""
    return re.findall(r"run: (sendonce .*)$", files()[WORKFLOW], re.MULTILINE)


def kcat() -> str:
    [script] = _KCAT.findall(text())
    return str(script)
