"""What a person sees: progress while it runs, then a table, then where to look next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from consumer.demo.tally import Tally
from consumer.guard.counts import CountedLetter, Counts
from consumer.model import Reason


class Update(Protocol):
    def __call__(self, done: int, kinds: Mapping[str, int]) -> None: ...


@contextmanager
def progress(console: Console, records: int) -> Iterator[Update]:
    """Draw a bar on a terminal; in a pipe, say nothing until the end."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[kinds]}"),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        task = bars.add_task("records at their end", total=records, kinds="")

        def update(done: int, kinds: Mapping[str, int]) -> None:
            told = "  ".join(f"{name} {count:,}" for name, count in sorted(kinds.items()))
            bars.update(task, completed=done, kinds=told)

        yield update


def result(console: Console, tally: Tally, guard: Counts, files: int) -> None:
    """Print the table. `files`: mails on disk, among those accepted."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2))
    table.add_column(justify="right", style="bold")
    table.add_column()
    for count, text in (*_records(tally, guard), *_mails(tally, files)):
        table.add_row(f"{count:,}", text)
    console.print()
    console.print(table)


def _records(tally: Tally, guard: Counts) -> Iterator[tuple[int, str]]:
    """Where the records are: the four lines under the first add up to it."""
    yield tally.records, "records published, by the topics' end offsets:"
    yield tally.sent, "sent: rows of the guard with the provider's id"
    for evidence, count in sorted(guard.settled_by.items()):
        yield count, f"  among them lost answers, found again by {evidence}"
    yield tally.duplicates, "duplicates: nothing was sent, the first one's outcome counts"
    yield tally.skipped, "skipped by a written rule: tombstones and events that are too old"
    yield tally.dead_letters, "dead letters, each with the whole record:"
    yield from _letters([letter for letter in guard.letters if letter.stands])


def _letters(standing: Sequence[CountedLetter]) -> Iterator[tuple[int, str]]:
    """Tell them by reason; an unknown one apart from a repeat that waits beside it."""
    told = Counter(_why(letter) for letter in standing)
    for text, count in sorted(told.items()):
        yield count, f"  {text}"


def _why(letter: CountedLetter) -> str:
    if letter.reason is Reason.UNKNOWN and letter.beside:
        return "unknown: a repeat of an event whose answer was lost, parked beside it"
    return f"{letter.reason.value}: {_REASONS.get(letter.reason.value, '')}"


def _mails(tally: Tally, files: int) -> Iterator[tuple[int, str]]:
    yield tally.accepted_by_provider, "mails accepted: those sent, and those still unknown"
    yield tally.accepted_by_provider - files, "  in the provider's ledger"
    yield files, "  files on disk"
    yield tally.accepted_twice, "accepted twice"
    yield tally.lost, "lost"


_REASONS = {
    "unknown": "the provider's answer was lost; not sent again on a guess",
    "conflict": "a key that was used before, with other content",
    "malformed": "not readable in one way only",
    "invalid": "against the mail's schema",
    "unsupported_format": "in a format that is not read here",
    "unknown_type": "no folder of the catalogue listens to it",
    "bad_time": "from the future, or from before 2000",
}


def next_steps(console: Console, out: Path) -> None:
    console.print(f"""
Look at the mails:     {out / "mails"}  (.eml files: any mail program opens them)
Look at the log:       {out / "service.log"}  (each attempt names its key)
How it works:          README.md, then consumer/line.py
Add a mail, no code:   schemas/README.md
What is proved, how:   tests/README.md, make test
""")
