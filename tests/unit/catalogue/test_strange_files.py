"""Whatever lies in a mail's folder is read, passed over by a rule, or told: never waited for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from consumer.catalogue import CatalogueError, load
from consumer.cli import catalogues
from consumer.events import decode
from consumer.model import Message
from tests.unit.catalogue.shop import (
    DAY,
    FILES,
    KEY,
    MAIL,
    SENDERS,
    mail_of,
    mistakes,
    note,
    open_shop,
    write,
)

NOWHERE = "is a link that leads nowhere"


def problems(root: Path) -> list[str]:
    with pytest.raises(CatalogueError) as caught:
        load(
            root,
            senders=SENDERS,
            providers=["file"],
            retention=30 * DAY,
            fingerprint_key=KEY,
            decode=decode,
        )
    return [str(problem) for problem in caught.value.problems]


STRANGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "note/subject.j2": (lambda file: file.symlink_to("/nowhere/at/all"), NOWHERE),
    "note/examples/one.json": (lambda file: file.symlink_to(file.name), NOWHERE),
    "note/mail.toml": (os.mkfifo, "is no plain file, but a pipe, a socket or a device"),
    "note/examples/two.json": (os.mkfifo, "is no plain file, but a pipe, a socket or a device"),
    "note/body.txt.j2": (lambda file: file.mkdir(), "is a folder, and a file of this name"),
    "note/de": (lambda file: file.symlink_to(".."), "is a link to a folder, which is not followed"),
    "note/_\udcff.j2": (lambda file: file.write_text(""), "has a name that is not UTF-8"),
    "_layouts": (lambda file: file.write_text(""), "is a file, and a folder of this name"),
    "letter": (lambda file: file.symlink_to("/nowhere/at/all"), NOWHERE),
}


@pytest.mark.parametrize("name", STRANGE)
def test_what_is_no_file_is_told_alone(tmp_path: Path, name: str) -> None:
    """Law: the cause, without what follows from a file that is not there; nothing is opened."""
    make, text = STRANGE[name]
    write(tmp_path)
    (tmp_path / name).unlink(missing_ok=True)
    make(tmp_path / name)
    [line] = problems(tmp_path)
    assert line.startswith(f"{name}: {text}")


@pytest.mark.parametrize("name", ["note", "note/subject.j2", "note/examples"])
def test_what_may_not_be_read_is_told_alone(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path)
    monkeypatch.setattr(os, "access", lambda file, _: file != tmp_path / name)  # not so for root
    assert problems(tmp_path) == [f"{name}: cannot be read: its permissions do not let this user"]


def test_a_catalogue_without_configuration_waits_for_no_pipe(tmp_path: Path) -> None:
    write(tmp_path, {"note/mail.toml": None})
    os.mkfifo(tmp_path / "note/mail.toml")
    with pytest.raises(CatalogueError, match="is no plain file"):
        catalogues.open_catalogue(tmp_path / "none.toml", tmp_path)


def test_a_mark_of_windows_hides_no_name_where_there_is_no_configuration(tmp_path: Path) -> None:
    write(tmp_path, {"note/mail.toml": "\ufeff" + MAIL})
    assert catalogues.open_catalogue(tmp_path / "none.toml", tmp_path).types.keys() == {"note"}


def test_files_without_bottom_are_told_each(tmp_path: Path) -> None:
    names = ("mail.toml", "v1.schema.json", "examples/one.json")
    files = {f"note/{name}": "[" * 100_000 for name in names}
    write(tmp_path, {**files, "note/mail.toml": "a = " + "[" * 100_000})
    with pytest.raises(CatalogueError) as caught:
        catalogues.open_catalogue(tmp_path / "none.toml", tmp_path)
    assert [str(problem) for problem in caught.value.problems] == [
        "note/mail.toml: is nested too deeply",
        "note/v1.schema.json: is nested too deeply",
    ]


def test_links_to_files_and_to_whole_mails_are_followed(tmp_path: Path) -> None:
    """So that a catalogue may be mounted, as Kubernetes does it, or shared."""
    write(tmp_path / "elsewhere", {"note/subject.j2": None})
    (tmp_path / "subject").write_text("{{ name }}")
    (tmp_path / "elsewhere/note/subject.j2").symlink_to(tmp_path / "subject")
    (tmp_path / "here").mkdir()
    (tmp_path / "here/note").symlink_to(tmp_path / "elsewhere/note")
    (tmp_path / "here/notes.txt").write_text("a file beside the folders is nobody's")
    assert catalogues.open_catalogue(tmp_path / "none.toml", tmp_path / "here").types.keys() == {
        "note"
    }


def test_copies_of_editors_are_passed_over_or_told(tmp_path: Path) -> None:
    passed = dict.fromkeys(("note/subject.j2~", "note/.subject.j2.swp", "note/examples/a.json~"))
    open_shop(tmp_path / "a", dict.fromkeys(passed, "x"))
    told = ["note/#subject.j2#", "note/subject.j2.bak", "note/subject.j2.orig"]
    lines = mistakes(tmp_path / "b", dict.fromkeys(told, "x"))
    assert [line.split(":")[0] for line in lines] == told
    assert all("is not a file that a folder has: those are mail.toml, " in line for line in lines)


def test_the_mark_that_windows_editors_put_first_does_not_matter(tmp_path: Path) -> None:
    files = {name: "\ufeff" + FILES[name] for name in ("note/mail.toml", "note/subject.j2")}
    catalogue = open_shop(tmp_path, dict(files))
    mail = mail_of(catalogue, note())
    before = catalogue.former(catalogue.editions[0])
    assert before is not None
    for message in (catalogue.render(mail), before.render(mail)):
        assert isinstance(message, Message)
        assert message.subject == "Hello Ada"


def test_another_encoding_says_what_to_do(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "note/mail.toml").write_bytes(MAIL.encode("utf-16"))
    assert problems(tmp_path) == ["note/mail.toml: is not UTF-8: save it in that encoding"]
