"""No character of the data breaks a subject, turns the writing round, or controls anything."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.catalogue.shop import mail_of, message_of, note, open_shop
from tests.unit.catalogue.templates import USES_EXTRA, failure, rendering

BREAKS = ["\r", "\n", "\r\n", "\t", "\u2028", "\u2029", "\x85", "\x1c"]


@pytest.mark.parametrize("character", BREAKS)
def test_a_line_break_from_data_is_refused_in_the_subject(tmp_path: Path, character: str) -> None:
    detail = failure(open_shop(tmp_path), name=f"a{character}Bcc: eve@example.com")
    assert re.match(r"note(/subject\.j2:1)?: .*control character", detail)
    assert "eve" not in detail


def test_the_templates_own_line_breaks_are_spaces(tmp_path: Path) -> None:
    catalogue = rendering(tmp_path, subject="\n Hello\n   {{ name }}\t!\n\n")
    assert message_of(catalogue, note()).subject == "Hello Ada !"


def test_a_long_subject_is_refused_not_cut(tmp_path: Path) -> None:
    """Cutting would break a family emoji apart; a subject this long is a body in its place."""
    catalogue = open_shop(tmp_path)
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    assert message_of(catalogue, note(name=family * 40)).subject.endswith(family)
    assert failure(catalogue, name=family * 60) == "note: the subject is longer than 255 characters"


@pytest.mark.parametrize("part", ["subject", "text", "html"])
def test_an_empty_part_is_no_mail(tmp_path: Path, part: str) -> None:
    templates = {"text": USES_EXTRA, part: "{% if not extra %}" + USES_EXTRA + "{% endif %} \n"}
    assert "empty" in failure(rendering(tmp_path, **templates), extra="x")


@pytest.mark.parametrize("control", ["\u202e", "\u202a", "\u2066", "\u2069", "\u200f", "\u061c"])
def test_overrides_of_the_writing_direction_are_taken_out(tmp_path: Path, control: str) -> None:
    """An override in a name would turn the rest of the receipt around."""
    catalogue = open_shop(tmp_path)
    message = message_of(catalogue, note(name=f"{control}adA"))
    assert (message.subject, message.text, message.html) == (
        "Hello adA",
        "Dear adA\n",
        "<p>Dear adA</p>",
    )
    assert mail_of(catalogue, note(name=f"{control}adA")).context["name"] == f"{control}adA"


def test_what_runs_from_right_to_left_is_isolated(tmp_path: Path) -> None:
    message = message_of(open_shop(tmp_path), note(name="نورة"))
    assert message.subject == "Hello \u2068نورة\u2069"
    assert message.html == "<p>Dear \u2068نورة\u2069</p>"


@pytest.mark.parametrize("control", ["\x00", "\x07", "\x1b", "\x7f", "\x9f"])
def test_control_characters_are_refused_everywhere(tmp_path: Path, control: str) -> None:
    catalogue = rendering(tmp_path, subject="x")
    assert failure(catalogue, name=f"a{control}b") == "note: the context holds a control character"
