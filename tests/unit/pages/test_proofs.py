"""Laws of what the preview shows: faults with lines, headers as read, both kinds of screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from consumer.catalogue import CatalogueError
from consumer.model import Message
from consumer.pages.proofs import faults, headers, in_scheme
from consumer.pages.watching import stamp
from consumer.settings import Problem, SettingsError
from tests.unit.catalogue.shop import message_of, note, open_shop


def message(tmp_path: Path) -> Message:
    return message_of(open_shop(tmp_path), note(name="Ada Lovelace ✓"))


def test_headers_are_those_that_a_reader_sees(tmp_path: Path) -> None:
    shown = dict(headers(message(tmp_path)))
    assert shown["Subject"] == "Hello Ada Lovelace ✓"
    assert shown["From"] == "Shop <hello@shop.example>"
    assert "Content-Type" not in shown


def test_a_mail_is_shown_as_on_either_screen_whatever_this_one_is() -> None:
    page = "@media (prefers-color-scheme: dark) {a} @media (prefers-color-scheme:light) {b}"
    assert in_scheme(page, dark=True) == "@media (min-width: 0) {a} @media (max-width: 0) {b}"
    assert in_scheme(page, dark=False) == "@media (max-width: 0) {a} @media (min-width: 0) {b}"


def test_every_fault_of_a_catalogue_comes_with_the_lines_around_it(tmp_path: Path) -> None:
    text = "one\ntwo\nthree\n{{ oops }}\nfive\nsix\nseven\n"
    with pytest.raises(CatalogueError) as caught:
        open_shop(tmp_path, {"note/body.txt.j2": text, "note/examples/one.json": None})
    found = faults(caught.value, tmp_path)
    assert any(fault.excerpt == () for fault in found)
    [oops] = [fault for fault in found if "oops" in fault.text]
    assert oops.line == 4
    assert oops.excerpt == ((2, "two"), (3, "three"), (4, "{{ oops }}"), (5, "five"), (6, "six"))


def test_whatever_else_goes_wrong_is_a_fault_too(tmp_path: Path) -> None:
    settings = SettingsError([Problem("kafka.start_from", "is missing", "sendonce.toml")])
    [told] = faults(settings, tmp_path)
    assert "kafka.start_from" in told.text
    assert faults(RuntimeError(), tmp_path)[0].text == "RuntimeError"


def test_a_change_is_noticed_a_look_alone_is_not(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "one.txt"
    file.parent.mkdir()
    file.write_text("x")
    roots = [tmp_path, tmp_path / "absent.toml"]
    before = stamp(roots)
    assert stamp(roots) == before
    file.write_text("xy")
    assert stamp(roots) != before
    file.unlink()
    assert stamp(roots) == frozenset()
