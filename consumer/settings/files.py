"""Files that hold one setting each: a variable that ends in _FILE names one."""

from __future__ import annotations

from pathlib import Path


class UnusableFileError(Exception):
    """Why the file gives no value, without anything of what is in it."""


def read_value(path: str) -> str:
    """Return the file's text without its last line break. Raises UnusableFileError.

    Empty is no value: a file that is being written at this moment is often empty.
    """
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not a text in UTF-8"
        raise UnusableFileError(f"its file cannot be read: {why}") from error
    if not text.strip():
        raise UnusableFileError("its file is empty")
    return text.rstrip("\r\n")
