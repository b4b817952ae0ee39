"""Mails as files, for local runs and demos: <path>/<key>.eml, one file a key for ever.

The file is the key: a mail whose file exists is accepted again under the same name, whatever its
bytes, as by a provider that never forgets a key.
"""

from __future__ import annotations

import asyncio
import math
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from consumer.model import (
    Accepted,
    Answer,
    Blocked,
    Enclosed,
    Lease,
    Message,
    Prepared,
    Rejected,
    TooLate,
    Unclear,
)
from consumer.providers.base import answer_cancellation, prepared
from consumer.providers.deadline import Deadline
from consumer.providers.enclosing import refuse_unfit
from consumer.providers.fields import refuse
from consumer.providers.lookups import Absent, Found, Sighting, Unasked
from consumer.providers.mime import render
from consumer.providers.options import Options

_KEY: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")  # a file's name, nothing that leaves the folder


class FileOptions(Options):
    """[providers.X] with type = "file". `path`: a folder, made if need be, readable by us alone."""

    type: Literal["file"] = "file"
    path: Path


class FileProvider:
    window = math.inf
    visible_after = 0.0
    absence_proves = True

    def __init__(self, name: str, options: FileOptions) -> None:
        self.name = name
        self.timeout = options.timeout
        self.concurrency = options.concurrency
        self.rate = options.rate
        self.account = f"file:{options.account or options.path}"
        self._files_limit = options.files_limit
        self._folder = options.path

    async def open(self) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    async def close(self) -> None:
        """Nothing is held."""

    def prepare(self, message: Message, enclosed: Sequence[Enclosed] = ()) -> Prepared | Rejected:
        if not _KEY.fullmatch(message.key):
            return Rejected("the key cannot name a file")
        refused = refuse(message, utf8_local=True)  # RFC 6532: UTF-8 in headers
        refused = refused or refuse_unfit(message, enclosed, self._files_limit)
        return refused or prepared(message, "", render(message, enclosed), enclosed=enclosed)

    @property
    def lookup(self) -> FileProvider:
        return self

    async def look_up(self, message: Message) -> Sighting:
        final = _final(self._folder, message)
        try:
            return Found(final.name) if await asyncio.to_thread(final.exists) else Absent()
        except OSError as problem:
            return Unasked(_failed(problem))

    async def attempt(self, prepared: Prepared, lease: Lease, until: float = math.inf) -> Answer:
        if Deadline(lease, until, self.timeout).passed:
            return TooLate()
        try:
            return await asyncio.to_thread(write_once, self._folder, prepared)
        except asyncio.CancelledError:
            answer_cancellation()
            return Unclear("file: called back")  # a thread is not; a repeat finds its file


def write_once(folder: Path, mail: Prepared) -> Answer:
    """Make the file whole and durable, or not at all."""
    final = _final(folder, mail.message)
    draft = folder / f".{mail.message.key}.{os.getpid()}.{os.urandom(4).hex()}"
    try:
        _write(draft, mail.body)
        os.link(draft, final)
    except FileExistsError:
        return Accepted(final.name)
    except OSError as problem:
        return Blocked(_failed(problem))
    finally:
        draft.unlink(missing_ok=True)
    return _made_durable(folder, final)


def _final(folder: Path, message: Message) -> Path:
    return folder / f"{message.key}.eml"


def _failed(problem: OSError) -> str:
    return f"file {type(problem).__name__} {problem.errno}"


def _write(draft: Path, body: bytes) -> None:
    with os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(body)
        file.flush()
        os.fsync(file.fileno())


def _made_durable(folder: Path, final: Path) -> Answer:
    """A name is durable only when its folder is."""
    try:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as problem:
        return Unclear(_failed(problem))
    return Accepted(final.name)
