"""Files that a command writes into a folder of a person's choice."""

from __future__ import annotations

from pathlib import Path

from consumer.cli.app import StopError


def write(option: str, folder: Path, name: str, content: bytes) -> Path:
    """Write a file, and the folders that it lies in. `option`: by which the folder was named."""
    file = folder / name
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    except (FileExistsError, NotADirectoryError):
        raise StopError(
            f"{option} {folder}: names a file, or lies below one; a folder is needed, and made if"
            " it is not there"
        ) from None
    except OSError as error:
        raise StopError(
            f"{option} {folder}: {name} cannot be written there: {error.strerror}"
        ) from None
    return file
