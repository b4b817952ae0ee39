"""Each record's note says what the line would have done with it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import orjson
import pytest

from consumer.guard.errors import GuardClosedError
from consumer.guard.shadows import Note, Onlooker, Would
from consumer.intake.hold import Hold
from consumer.making import Making
from consumer.model import (
    IMPORTED,
    Attachment,
    Coordinates,
    Prepared,
    Record,
    Rejected,
    Row,
    Status,
)
from consumer.providers import Provider
from consumer.providers.fetching import Fetcher, Unfetched
from consumer.reading import Reading
from consumer.rules import Rules
from consumer.shadow.walking import Shadow
from tests.doubles.mails import mail
from tests.unit.catalogue.shop import EXAMPLE, MAIL, NOW, mail_of, note, open_shop, with_mail

MOMENT = datetime.fromtimestamp(NOW / 1000, UTC)
KEY_TEXT = "0" * 48


@dataclass
class Watched:
    """What an onlooker was asked and told."""

    row: Row | None = None
    notes: list[Note] = field(default_factory=list)
    closed: bool = False

    async def look(self, key: str, mail_type: str, at: Coordinates) -> Row | None:
        return self.row

    async def note(self, note: Note) -> None:
        if self.closed:
            raise GuardClosedError
        self.notes.append(note)


class Lost:
    """A fetcher of files that are not there."""

    async def fetch(self, attachments: Any) -> Unfetched:
        return Unfetched("invoice.pdf: answered 404")


class Strict:
    """A provider that takes everything but one name; it is never opened."""

    def prepare(self, message: Any) -> Prepared | Rejected:
        if "Mallory" in message.subject:
            return Rejected("too long")
        return Prepared(message, b"", b"")


def _shadow(root: Path, watched: Watched, mail: str = MAIL, *, allow: Any = None) -> Shadow:
    rules = Rules(allow, now=lambda: MOMENT + timedelta(hours=1))
    reading = Reading(Making(open_shop(root, with_mail(mail)), rules))
    providers = {"postmark": cast("Provider", Strict()), "file": cast("Provider", Strict())}
    return Shadow(reading, cast("Onlooker", watched), providers)


def _record(**changes: object) -> Record:
    value = orjson.dumps({**EXAMPLE, **changes})
    return Record("orders", 0, 7, NOW, None, value)


def _row(root: Path, **changes: Any) -> Row:
    mail = mail_of(open_shop(root), note())
    values: dict[str, Any] = {
        "key": mail.key, "mail_type": "note", "status": Status.SENT, "fingerprint": "other",
        "catalogue": IMPORTED, "provider": "old", "account": "", "attempts": 0, "round": 0,
        "epoch": 1, "owner": "", "token": "", "lease_live": False, "in_doubt": False,
        "coordinates": None,
    }  # fmt: skip
    return Row(**{**values, **changes})


async def _noted(shadow: Shadow, watched: Watched, record: Record) -> tuple[Would, str]:
    assert await shadow.handle(record, Hold())
    [noted] = watched.notes
    assert shadow.counts == {noted.would: 1}
    return noted.would, noted.detail


async def test_what_would_be_sent_is_noted_with_its_key_and_without_an_address(
    tmp_path: Path,
) -> None:
    watched = Watched()
    assert await _noted(_shadow(tmp_path, watched), watched, _record()) == (Would.SEND, "postmark")
    [noted] = watched.notes
    mail = mail_of(open_shop(tmp_path), note())
    assert (noted.key, noted.fingerprint) == (mail.key, mail.fingerprint)
    assert (noted.mail_type, noted.catalogue) == ("note", mail.type.digest)
    assert (noted.at, noted.occurred_at) == (_record().coordinates, MOMENT)
    assert "@" not in repr(noted)


@pytest.mark.parametrize(
    ("changes", "noted"),
    [
        ({"to": "nobody"}, (Would.DEAD_LETTER, "invalid: /to: needs exactly one at sign")),
        ({"name": "Mallory"}, (Would.DEAD_LETTER, "rejected: too long")),
        ({"to": "eve@elsewhere.example"}, (Would.SKIPPED, "not_allowed")),
    ],
)
async def test_what_would_not_be_sent_says_why(
    tmp_path: Path, changes: dict[str, object], noted: tuple[Would, str]
) -> None:
    watched = Watched()
    shadow = _shadow(tmp_path, watched, allow={"@example.com"})
    assert await _noted(shadow, watched, _record(**changes)) == noted


async def test_files_that_are_not_there_would_keep_the_mail(tmp_path: Path) -> None:
    """The line would try again for hours, and then open a letter."""
    shadow = replace(_shadow(tmp_path, Watched()), fetcher=cast("Fetcher", Lost()))
    file = Attachment("invoice.pdf", "application/pdf", "0" * 64, "https://x.example/", 9)
    noted = await shadow._prepared(mail(attachments=(file,)), "postmark")
    assert noted == (Would.DEAD_LETTER, "exhausted: invoice.pdf: answered 404")


async def test_a_tombstone_is_skipped(tmp_path: Path) -> None:
    watched = Watched()
    record = Record("orders", 0, 7, NOW, None, None)
    assert await _noted(_shadow(tmp_path, watched), watched, record) == (Would.SKIPPED, "tombstone")


async def test_before_the_cut_over_it_would_be_skipped(tmp_path: Path) -> None:
    watched, mail = Watched(), f"active_from = 2026-03-02T00:00:00Z\n{MAIL}"
    noted = await _noted(_shadow(tmp_path, watched, mail), watched, _record())
    assert noted == (Would.SKIPPED, "before_active_from")


async def test_an_imported_row_makes_a_duplicate_whatever_its_fingerprint(tmp_path: Path) -> None:
    watched = Watched(_row(tmp_path))
    noted = await _noted(_shadow(tmp_path, watched), watched, _record())
    assert noted == (Would.DUPLICATE, IMPORTED)


@pytest.mark.parametrize(
    ("changes", "noted"),
    [
        ({}, (Would.REFUSED, "conflict")),
        ({"key": KEY_TEXT}, (Would.REFUSED, "key_drift")),
        ({"status": Status.FAILED}, (Would.SEND, "postmark")),
        ({"coordinates": _record().coordinates}, (Would.DUPLICATE, "sent by this service")),
    ],
)
async def test_a_row_of_a_service_that_sends_is_judged_as_the_line_judges_it(
    tmp_path: Path, changes: dict[str, Any], noted: tuple[Would, str]
) -> None:
    digest = mail_of(open_shop(tmp_path), note()).type.digest
    watched = Watched(_row(tmp_path, catalogue=digest, **changes))
    assert await _noted(_shadow(tmp_path, watched), watched, _record()) == noted


async def test_what_was_not_noted_is_not_finished(tmp_path: Path) -> None:
    """Law: the offset moves only when the note stands."""
    shadow = _shadow(tmp_path, Watched(closed=True))
    assert not await shadow.handle(_record(), Hold())
    assert not shadow.counts
