"""What an event of a file becomes: its mail type, its topic, its mail, or why none comes of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TypeAlias

from consumer.catalogue import Catalogue
from consumer.cli.app import StopError
from consumer.cli.asked import Decode
from consumer.cli.files import Piece, read_pieces
from consumer.events import decode
from consumer.model import Bad, Event, Mail, Reason, Record, Skipped

Header: TypeAlias = tuple[str, bytes | None]


@dataclass(frozen=True, slots=True)
class ReadEvent:
    """One event of a file as the service would read it from `record.topic`."""

    place: str
    record: Record
    mail: Mail | Skipped | Bad
    material: str | None = None  # what the mail's key is the hash of


def readings(
    catalogue: Catalogue,
    named: str,
    *,
    topic: str | None = None,
    headers: Sequence[str] | None = None,
    raw: bool = False,
    read: Decode = decode,
) -> list[ReadEvent]:
    """Read all events of a file, or of an example: "order.receipt" or "order.receipt/minimal".

    `headers`: "NAME=VALUE" each, of every record. `raw`: the file is one value as it stands, for
    the topic that is named. `read`: decodes, as `asked.decoding` makes it where there is a
    configuration.
    """
    eyes = _Eyes(catalogue, read, tuple(map(_header, headers or ())))
    if raw:
        return [_read(eyes, _whole(Path(named)), _known(topic))]
    return [
        _read(eyes, piece, _topic(eyes, piece, known))
        for piece, known in _pieces(catalogue, named, topic)
    ]


@dataclass(frozen=True, slots=True)
class _Eyes:
    """What events of files are read with, and the headers of their records."""

    catalogue: Catalogue
    decode: Decode
    headers: tuple[Header, ...]


def _header(text: str) -> Header:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise StopError(f"--header {text}: write NAME=VALUE", code=2)
    return name, value.encode("utf-8", "surrogateescape")  # the bytes, as they were typed


def _whole(file: Path) -> Piece:
    try:
        return Piece(file, 1, file.read_bytes())
    except OSError as error:
        raise StopError(f"{file}: {error.strerror}", code=2) from None


def _known(topic: str | None) -> str:
    if topic is None:
        raise StopError("name the topic with --topic", code=2)
    return topic


def _is_file(named: str) -> bool:
    try:
        return Path(named).is_file()
    except OSError:  # too long for a name
        return False


def _pieces(
    catalogue: Catalogue, named: str, topic: str | None
) -> Iterator[tuple[Piece, str | None]]:
    is_file = _is_file(named)
    examples = [e for e in catalogue.examples if named in (e.mail_type, f"{e.mail_type}/{e.name}")]
    if is_file or not examples:
        file = Path(named)
        for piece in _of_file(catalogue, file):
            yield piece, topic or _folder_topic(catalogue, file)
    for example in examples if not is_file else ():
        yield (
            Piece(Path(example.mail_type) / example.name, 1, example.value),
            topic or example.topic,
        )


def _of_file(catalogue: Catalogue, file: Path) -> list[Piece]:
    try:
        return read_pieces(file)
    except StopError as stop:
        if not isinstance(stop.__cause__, FileNotFoundError):
            raise
        known = ", ".join(sorted(catalogue.types))
        told = f"{stop.message}, and no example of that name; mail types are {known}"
        raise StopError(told, stop.code) from None


def _folder_topic(catalogue: Catalogue, file: Path) -> str | None:
    """Take the mail type's topic for a file in its `examples` folder."""
    folder = file.resolve().parent
    mail_type = catalogue.types.get(folder.parent.name)
    return mail_type.topic if mail_type is not None and folder.name == "examples" else None


def _topic(eyes: _Eyes, piece: Piece, known: str | None) -> str:
    """Find the one topic on which this event would be a mail's, or ask for it."""
    if known is not None:
        return known
    seen = {topic: _read(eyes, piece, topic) for topic in sorted(eyes.catalogue.topics)}
    fitting = [topic for topic, reading in seen.items() if _listened_to(reading)]
    if len(fitting) == 1:
        return fitting[0]
    raise StopError(f"{piece.place}: {_undecided(eyes.catalogue, seen, fitting)}", code=2)


def _undecided(catalogue: Catalogue, seen: Mapping[str, ReadEvent], fitting: Sequence[str]) -> str:
    """Say why no topic can be chosen. What nobody can read would fit everywhere."""
    topics = ", ".join(seen)
    if not fitting:
        return f"{_unheard(catalogue, seen)}; or, as it is, name a topic with --topic: {topics}"
    mail = next(iter(seen.values())).mail
    text = why_not(mail) if isinstance(mail, Bad) else "several topics fit"
    return f"{text}; name one with --topic: {topics}"


def _unheard(catalogue: Catalogue, seen: Mapping[str, ReadEvent]) -> str:
    """Name the type, which may well be a typo, and the nearest that a folder listens to."""
    types = {one.mail.event_type or "" for one in seen.values() if isinstance(one.mail, Bad)}
    if types == seen.keys():  # what names no type has its topic's
        return f"the event names no type; known are {', '.join(sorted(catalogue.events))}"
    return "; ".join(
        f"no folder listens to the type {name[:100]!r}{_nearest(name, catalogue)}" for name in types
    )


def _nearest(name: str, catalogue: Catalogue) -> str:
    known = sorted(catalogue.events)
    close = get_close_matches(name, known, n=1)
    return f", did you mean {close[0]}?" if close else f", known are {', '.join(known)}"


def _listened_to(reading: ReadEvent) -> bool:
    match reading.mail:
        case Bad(reason):
            return reason is not Reason.UNKNOWN_TYPE
        case Mail() | Skipped():
            return True


def _read(eyes: _Eyes, piece: Piece, topic: str) -> ReadEvent:
    now, catalogue = time.time_ns() // 1_000_000, eyes.catalogue
    record = Record(topic, 0, piece.line, now, None, piece.value, eyes.headers)
    event = eyes.decode(record)
    if not isinstance(event, Event):
        return ReadEvent(piece.place, record, event)
    mail = catalogue.read(record, event)
    material = catalogue.key_material(mail, event) if isinstance(mail, Mail) else None
    return ReadEvent(piece.place, record, mail, material)


def why_not(outcome: Bad | Skipped) -> str:
    """Say in one line why no mail comes of an event."""
    match outcome:
        case Bad(reason, detail):
            return f"dead letter {reason}: {detail}"
        case Skipped(rule):
            return f"skipped: {rule}"
