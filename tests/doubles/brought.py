"""What a mail brought to a provider beside its text: files, or the name of a template."""

from __future__ import annotations

import binascii
import hashlib
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class File:
    name: str
    kind: str  # its content type
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Brought:
    """`model`: what the template is to be filled with, as the provider read it."""

    files: tuple[File, ...] = ()
    template: str | None = None
    model: Mapping[str, Any] = field(default_factory=dict)


NOTHING = Brought()


def file_of(name: str, kind: str, content: bytes) -> File:
    return File(name, kind, len(content), hashlib.sha256(content).hexdigest())


def read_file(name: object, kind: object, encoded: object) -> File | None:
    """Read a file that came as base64; None: it is none, or it is empty."""
    if not (isinstance(name, str) and isinstance(kind, str) and isinstance(encoded, str)):
        return None
    try:
        content = b64decode(encoded, validate=True)
    except binascii.Error:
        return None
    return file_of(name, kind, content) if content and name and "/" in kind else None
