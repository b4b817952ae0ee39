"""What lies in a mail's folder and is no file that can be read: told, and never opened.

A pipe would be waited for without end; a link that leads nowhere would be missed in silence, and
with it a language, or a whole mail.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from consumer.catalogue.errors import Problem
from consumer.catalogue.folder import LAYOUTS, left_over

_OF_FILES: Final = frozenset({".j2", ".json", ".toml"})
_NOWHERE: Final = "is a link that leads nowhere"


def special_files(catalogue: Path) -> Iterator[Problem]:
    """Look at every entry that `read_files` would; beside the folders, files may be anything."""
    for top in sorted(catalogue.iterdir()):
        if top.name != LAYOUTS and top.name[0] in "._":
            continue
        if top.is_dir():
            inside = [file for file in sorted(top.rglob("*")) if not left_over(file, top)]
            found = [(top, _of_folder(top)), *((file, _inside(file)) for file in inside)]
            for file, text in found:
                if text is not None:
                    yield Problem(file.relative_to(catalogue).as_posix(), 0, text)
        elif top.is_symlink() and not top.exists():
            yield Problem(top.name, 0, _NOWHERE)
        elif top.name == LAYOUTS:
            yield Problem(top.name, 0, "is a file, and a folder of this name is wanted")


def _inside(file: Path) -> str | None:
    if not file.name.isprintable():
        return "has a name that is not UTF-8, or cannot be printed: rename it"
    try:
        mode = file.stat().st_mode
    except OSError as error:
        return _NOWHERE if file.is_symlink() else f"cannot be read: {error.strerror}"
    if not stat.S_ISDIR(mode):
        return _of_file(file, mode)
    if file.is_symlink():
        return "is a link to a folder, which is not followed: put the files themselves here"
    if file.suffix in _OF_FILES:
        return "is a folder, and a file of this name is wanted"
    return _of_folder(file)


def _of_file(file: Path, mode: int) -> str | None:
    if not stat.S_ISREG(mode):
        return "is no plain file, but a pipe, a socket or a device"
    return None if os.access(file, os.R_OK) else _FORBIDDEN


def _of_folder(folder: Path) -> str | None:
    return None if os.access(folder, os.R_OK | os.X_OK) else _FORBIDDEN


_FORBIDDEN: Final = "cannot be read: its permissions do not let this user"
