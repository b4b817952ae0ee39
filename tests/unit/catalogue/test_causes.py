"""The first that is told is the cause, and what comes of it is not told at all."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from consumer.catalogue import TopicRule
from tests.unit.catalogue.shop import EXAMPLE, FILES, MAIL, SCHEMA, mistakes, write

RENAMED: dict[str, str | None] = {
    **dict.fromkeys(FILES),
    **{name.replace("note/", "letter/"): text for name, text in FILES.items()},
}


def test_a_renamed_folder_is_told_as_such(tmp_path: Path) -> None:
    """Not by each of its examples, nor by what its templates draw from under the old name."""
    files = RENAMED | {
        "letter/examples/two.json": json.dumps({**EXAMPLE, "id": "N2"}),
        "letter/body.txt.j2": "{% extends 'note/_frame.j2' %}",
    }
    [line] = mistakes(tmp_path, files)
    assert line.startswith("letter/mail.toml: was the folder renamed? It listens to its own name,")
    assert "'letter', and its examples are events of 'note'. Name it note again: its name" in line
    assert 'write on = "note" here' in line


def test_a_copied_folder_is_told_as_such(tmp_path: Path) -> None:
    write(tmp_path)
    shutil.copytree(tmp_path / "note", tmp_path / "letter")
    [line] = mistakes(tmp_path, {})
    assert line == (
        "letter/mail.toml: the folder listens to its own name, 'letter', and its examples are"
        " events of 'note': mend their \"type\""
    )


def test_a_type_that_no_example_has_is_told_by_its_line(tmp_path: Path) -> None:
    [line] = mistakes(tmp_path, {"note/mail.toml": 'on = "nota"\n' + MAIL})
    assert line == (
        "note/mail.toml:1: on: says 'nota', and the folder's examples are events of 'note':"
        " mend either"
    )


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({**EXAMPLE, "type": "x"}, "is an event of 'x', and the folder listens to 'note'"),
        (
            {name: value for name, value in EXAMPLE.items() if name != "type"},
            "is an event of 'orders' (it has no \"type\": the topic is taken), and the folder",
        ),
    ],
)
def test_one_example_of_another_type(tmp_path: Path, event: object, said: str) -> None:
    [line] = mistakes(tmp_path, {"note/examples/two.json": json.dumps(event)})
    assert line.startswith(f"note/examples/two.json: {said}")


def test_what_is_wrong_in_every_example_and_language_is_told_once(tmp_path: Path) -> None:
    files: dict[str, str | None] = {
        "note/mail.toml": 'locale = { value = "en" }\n' + MAIL,
        "note/body.txt.j2": "{{ name.first }}",
        "note/de/subject.j2": "Hallo {{ name }}",
        "note/examples/two.json": json.dumps({**EXAMPLE, "id": "N2"}),
    }
    [line] = mistakes(tmp_path, files)
    assert line == (
        "note/examples/one.json: invalid: note/body.txt.j2:1: 'first' is undefined"
        " (the same in two)"
    )


def test_a_misspelt_required_is_not_told_of_all_that_it_requires(tmp_path: Path) -> None:
    schema = json.dumps(SCHEMA).replace('"required"', '"requird"')
    [line] = mistakes(tmp_path, {"note/v1.schema.json": schema})
    assert line.endswith("has no such keyword; did you mean required?")


def test_a_folder_that_cannot_be_read_is_no_missing_one(tmp_path: Path) -> None:
    rules = {"orders": TopicRule(), "other": TopicRule()}
    [line] = mistakes(tmp_path, {"note/mail.toml": "topic = orders\n"}, topics=rules)
    assert line == (
        "note/mail.toml:1: not TOML: Invalid value (at line 1, column 9); texts stand in quotes"
    )
