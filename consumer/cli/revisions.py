"""The catalogue as it was: in another folder, or at a revision of its git repository."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path

from consumer.catalogue.folder import read_files
from consumer.cli.app import StopError


class _NotThereError(Exception):
    """Git has no answer."""


def files_at(against: str, folder: Path) -> dict[str, bytes]:
    """Return the catalogue's files by their paths; `against`: another folder, or a revision.

    Raises `StopError` where it is neither: a slip of the pen must not pass for no change at all. A
    revision that had no such folder had an empty catalogue.
    """
    if any(Path(against).glob("*/mail.toml")):
        return read_files(Path(against))
    try:
        commit = _git(folder, "rev-parse", "--verify", "--end-of-options", against + "^{commit}")
        inside = _git(folder, "rev-parse", "--show-prefix")
        top = Path(_git(folder, "rev-parse", "--show-toplevel"))
    except (_NotThereError, OSError):
        raise StopError(f"--against: {_why_not(against, folder)}", 2) from None
    return _files_of(top, f"{commit}:{inside}")


def _why_not(against: str, folder: Path) -> str:
    if against and Path(against).is_dir():
        return f"the folder {against} holds no mail type"
    try:
        _git(folder, "rev-parse", "--git-dir")
    except (_NotThereError, OSError):
        return f"there is no folder {against}, and {folder} lies in no git repository"
    return f"{against} is neither a folder nor a git revision of {folder}"


def _files_of(top: Path, tree: str) -> dict[str, bytes]:
    try:
        packed = _run(top, "archive", "--format=tar", tree)
    except _NotThereError:
        return {}
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        found = [(entry.name, archive.extractfile(entry)) for entry in archive if entry.isfile()]
        return {name: content.read() for name, content in found if content is not None}


def _git(folder: Path, *words: str) -> str:
    return _run(folder, *words).decode().strip()


def _run(folder: Path, *words: str) -> bytes:
    command = ["git", "-C", str(folder), *words]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - git, and no shell
    if done.returncode:
        raise _NotThereError
    return done.stdout
