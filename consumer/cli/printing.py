"""How facts reach a person, a pipe or a program.

On a terminal: tables and a little colour. In a pipe: plain lines, columns split by tabs. With
`--json`: one document. What came from records is untrusted: control characters are shown, not
obeyed, so that a value in a dead letter cannot steer somebody's terminal.
"""

from __future__ import annotations

import errno
import io
import os
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

_LOSSES = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}
_OPTIONS = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS


def is_terminal() -> bool:
    return Console().is_terminal


class Pipe(io.FileIO):
    """An output whose reader may have read enough, as `head` has: the rest is dropped.

    The command goes on: what it does is done to the end, and its exit code is its own.
    """

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            _to_nowhere(self.fileno())
            return memoryview(data).nbytes


def outlive_readers() -> None:
    """Have stdout and stderr drop what nobody reads, also where they were closed before."""
    for name in ("stdout", "stderr"):
        setattr(sys, name, _outliving(getattr(sys, name)))


def _outliving(stream: Any) -> io.TextIOBase:
    if stream is None:
        return Path(os.devnull).open("w", encoding="utf-8")
    raw = Pipe(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(
        raw if isinstance(stream.buffer, io.FileIO) else io.BufferedWriter(raw),  # unbuffered: both
        stream.encoding,
        stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def is_loss(error: OSError) -> bool:
    """Tell a full disk or a closed stdout; whatever else a command writes tells its own faults."""
    return error.errno in _LOSSES


def drop_rest() -> None:
    """Drop what still waits for stdout: the interpreter would try it once more at its end."""
    with suppress(OSError):
        _to_nowhere(sys.stdout.fileno())


def _to_nowhere(descriptor: int) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def document(facts: object) -> None:
    """Print the one JSON document of a command."""
    try:
        text = orjson.dumps(facts, option=_OPTIONS)
    except orjson.JSONEncodeError:
        text = orjson.dumps(_utf8(facts), option=_OPTIONS)
    sys.stdout.write(text.decode())


def _utf8(facts: object) -> object:
    """Write what is no UTF-8, such as a file's name, with escapes, so that JSON can hold it."""
    match facts:
        case str():
            return facts.encode("utf-8", "backslashreplace").decode()
        case Mapping():
            return {_utf8(name): _utf8(value) for name, value in facts.items()}
        case list() | tuple():
            return [_utf8(one) for one in facts]
        case _:
            return facts


def say(text: str = "", style: str = "") -> None:
    """Print a line, in a style where there is a terminal."""
    if is_terminal():
        Console(highlight=False, soft_wrap=True).print(Text(printable(text), style=style))
    else:
        sys.stdout.write(f"{printable(text)}\n")


def remark(text: str) -> None:
    """Tell a person something beside the output, which a pipe or a program reads, on stderr."""
    sys.stderr.write(f"sendonce: {printable(text)}\n")


def pairs(facts: Iterable[tuple[str, object]]) -> None:
    """Print names and values below each other; what is None is left out."""
    known = [(name, value) for name, value in facts if value is not None]
    width = max((len(name) for name, _ in known), default=0)
    for name, value in known:
        say(f"  {name:<{width}}  {value}")


@contextmanager
def progress(name: str, total: int, *, shown: bool) -> Iterator[Callable[[int], None]]:
    """Yield what is told of each step done; on a terminal a bar on stderr says how far it is."""
    console = Console(stderr=True)
    shown = shown and console.is_terminal
    with Progress(console=console, transient=True, disable=not shown) as bar:
        task = bar.add_task(name, total=total)
        yield lambda steps: bar.advance(task, steps)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    texts = [[_cell(value) for value in row] for row in rows]
    if is_terminal():
        _drawn(columns, texts)
    else:
        for line in (columns, *texts):
            say("\t".join(line))


def _drawn(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    drawn = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        drawn.add_column(column, overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))
    Console(highlight=False).print(drawn)


def _cell(value: object) -> str:
    return "-" if value is None else printable(str(value)).replace("\t", " ")


def printable(text: str) -> str:
    """Show control, format and lone surrogate characters by their escapes; keep tabs, spaces."""
    return "".join(c if _harmless(c) else _escaped(c) for c in text)


def _harmless(character: str) -> bool:
    return character.isprintable() or character == "\t" or unicodedata.category(character) == "Zs"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()
