"""What the pages tell people to type and to open is there."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
from typer.main import get_command

from consumer.cli.commands import app

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = (
    "README.md",
    "schemas/README.md",
    "deploy/README.md",
    "consumer/providers/README.md",
    "tests/README.md",
    "CHANGELOG.md",
)
COMMAND: Any = get_command(app)


def text(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def typed(page: str) -> set[str]:
    """Return the command lines of a page: of its blocks, and those between backticks."""
    lines = re.findall(r"(?m)^(?: {4,}|- run: |)(?:\$ )?sendonce ([^#|>\n]+)", text(page))
    return {*lines, *re.findall(r"`sendonce ([^`#|>]+)`", text(page))}


def unknown_words(line: str) -> set[str]:
    """Return the options of a command line that the command does not have."""
    command, known = COMMAND, {"--config"}
    for word in re.sub(r'"[^"]*"', "TEXT", line).split():
        if word in getattr(command, "commands", {}):
            command = command.commands[word]
            known |= {option for one in command.params for option in one.opts}
    options = set(re.findall(r"(?<!\S)--[a-z-]+", line))
    return options - known if command is not COMMAND else {line}


@pytest.mark.parametrize("page", PAGES)
def test_every_command_that_is_shown_is_one(page: str) -> None:
    assert {line: unknown_words(line) for line in typed(page) if unknown_words(line)} == {}


def test_commands_are_found_on_the_pages() -> None:
    assert len(typed("deploy/README.md")) > 20
    assert unknown_words("pause --everything --by ada") == {"--everything"}
    assert unknown_words("send everything") == {"send everything"}


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    lost = []
    for file, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", text(page)):
        target = (ROOT / page).parent / file if file else ROOT / page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(f"{file}#{anchor}")
    assert lost == []


def anchors(page: Path) -> set[str]:
    """Return the headings of a page as GitHub names them."""
    headings = re.findall(r"(?m)^#+ (.+)$", page.read_text("utf-8"))
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


@pytest.mark.parametrize("page", PAGES)
def test_nobody_is_sent_to_an_index_that_does_not_have_it(page: str) -> None:
    """It comes out of a clone: installed by a path, never by a name that is somebody else's."""
    assert re.findall(r"pip3? install[^`#\n]*[ '\"]sendonce\b(?!/)", text(page)) == []


def test_the_extras_that_the_front_page_names_are_all_there_are() -> None:
    [told] = re.findall(r"(?s)The extras: (.*?)\n\n", text("README.md"))
    project = tomllib.loads(text("pyproject.toml"))["project"]
    extras = set(project["optional-dependencies"]) - {"test"}
    assert {word for word in re.findall(r"`(\w+)`", told) if "." not in word} == extras


def test_the_starters_of_the_tutorial_run_without_the_tools_of_the_tests() -> None:
    """Who follows it has the extra `demo`, and no pytest."""
    hidden = "import sys; sys.modules.update(dict.fromkeys(('pytest', 'trustme')))"
    for name in ("kafka_process", "postgres_process"):
        assert f"python -m tests.parts.{name}" in text("schemas/README.md")
        code = f"{hidden}; import tests.parts.{name}"
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=60)
