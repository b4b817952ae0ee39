"""Every mistake in a catalogue stops the start, with file and line, all of them at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from consumer.catalogue import CatalogueError, TopicRule
from tests.unit.catalogue.shop import DAY, FILES, MAIL, mistakes, open_shop

MISSING = {
    "note/mail.toml": "note/mail.toml: is missing",
    "note/subject.j2": "note/subject.j2: is missing",
    "note/body.txt.j2": "note/body.txt.j2: is missing",
    "note/body.html.j2": "note/body.html.j2: is missing",
    "note/v1.schema.json": "note/v1.schema.json: is missing",
    "note/examples/one.json": "note/examples: is empty",
}


@pytest.mark.parametrize(("file", "expected"), MISSING.items())
def test_missing_files(tmp_path: Path, file: str, expected: str) -> None:
    assert [line for line in mistakes(tmp_path, {file: None}) if line.startswith(expected)]


@pytest.mark.parametrize("file", ["note/body.htm.j2", "note/v0.schema.json", "note/de/subject.txt"])
def test_a_file_that_no_folder_has(tmp_path: Path, file: str) -> None:
    """A misspelt file is told, not passed over."""
    assert any(line.startswith(f"{file}: is not a file") for line in mistakes(tmp_path, {file: ""}))


def test_notes_and_hidden_files_do_not_matter(tmp_path: Path) -> None:
    open_shop(tmp_path, {"note/README.md": "x", "note/.swp": "x", "note/mail.toml~": "x"})


def test_max_age_leaves_a_day_of_retention(tmp_path: Path) -> None:
    """What the guard has forgotten is too old to send: else a rewind mails again."""
    open_shop(tmp_path / "a", retention=8 * DAY)
    [line] = mistakes(tmp_path / "b", {}, retention=8 * DAY - 1)
    assert line.startswith("note/mail.toml:4: max_age: at most the guard's retention less one day")


def test_sensitive_types_need_a_key(tmp_path: Path) -> None:
    text = 'sensitive = ["name"]\n' + MAIL
    [line] = mistakes(tmp_path, {"note/mail.toml": text}, fingerprint_key=None)
    assert line == "note/mail.toml:1: sensitive: needs fingerprint_key in [guard]"


def test_one_folder_for_one_event(tmp_path: Path) -> None:
    """Two folders on one topic and event type would be two mails for one event."""
    twin: dict[str, str | None] = {
        name.replace("note/", "twin/"): text for name, text in FILES.items()
    }
    lines = mistakes(tmp_path, {**twin, "twin/mail.toml": 'on = "note"\n' + MAIL})
    assert "twin/mail.toml:1: note/ listens to 'note' on this topic already" in lines


def test_topic_rules_that_contradict_the_folders(tmp_path: Path) -> None:
    rules = {"orders": TopicRule(ignore=frozenset({"note"})), "odrers": TopicRule()}
    assert mistakes(tmp_path, {}, topics=rules) == [
        'configuration: [topics."odrers"]: no folder listens to it',
        "configuration: [topics.\"orders\"] ignores 'note', which a folder listens to",
    ]


def test_all_mistakes_at_once(tmp_path: Path) -> None:
    """One start tells everything: nobody mends a catalogue one error a time."""
    changes: dict[str, str | None] = {
        "note/mail.toml": MAIL.replace('"shop"', '"spam"').replace('"to"', '"ot"'),
        "note/subject.j2": "{{ oops }}",
        "note/body.txt.j2": None,
        "note/body.html.j2": "{{ name | shout }}",
    }
    assert [line.split(" ")[0] for line in mistakes(tmp_path, changes)] == [
        "note/body.html.j2:1:",
        "note/body.txt.j2:",
        "note/mail.toml:3:",
        "note/mail.toml:5:",
        "note/subject.j2:1:",
    ]


def test_an_empty_catalogue(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="holds no mail type"):
        open_shop(tmp_path, dict.fromkeys(FILES))


def test_no_catalogue(tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="is not a folder"):
        open_shop(tmp_path / "none", dict.fromkeys(FILES))
