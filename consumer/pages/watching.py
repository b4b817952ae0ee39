"""Telling that files have changed, by looking: nothing to install, and it works on every disk."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

Stamp: TypeAlias = frozenset[tuple[str, int, int]]


def stamp(roots: Iterable[Path]) -> Stamp:
    """Return what changes when a file below any of these is written, added or removed."""
    return frozenset(_seen(roots))


def _seen(roots: Iterable[Path]) -> Iterator[tuple[str, int, int]]:
    for file in _files(roots):
        try:
            found = file.stat()
        except OSError:  # gone again, as editors do it
            continue
        yield str(file), found.st_mtime_ns, found.st_size


def _files(roots: Iterable[Path]) -> Iterator[Path]:
    for root in roots:
        if root.is_dir():
            for folder, _, names in os.walk(root):
                yield from (Path(folder) / name for name in names)
        else:
            yield root
