"""A folder's files as one piece of bytes: a ZIP archive, which a person can open too."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

_AT = (1980, 1, 1, 0, 0, 0)  # the earliest that the format knows: the same files, the same bytes


def pack(files: Mapping[str, bytes]) -> bytes:
    """Return the archive; the same files give the same bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name, _AT), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def unpack(snapshot: bytes) -> dict[str, bytes]:
    """Return the files by name; ValueError for bytes that `pack` did not make."""
    try:
        with zipfile.ZipFile(io.BytesIO(snapshot)) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        raise ValueError(f"not a snapshot: {type(error).__name__}") from None
