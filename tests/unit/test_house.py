"""The house's own law: who may import whom, and what stays in one room.

Read from the sources, not from what happens to be loaded: an import inside a function counts too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.unit.house import ROOT, SOURCES, statements_of, text_of

# A room may import itself and these; what is not named here wires, and may import everything.
NOTHING: frozenset[str] = frozenset()
VOCABULARY = frozenset({"model", "keys"})
ROOMS = ("events", "registry", "catalogue", "guard", "providers", "intake", "webhooks")
MAY_IMPORT = {"model": NOTHING, "keys": {"model"}} | dict.fromkeys(ROOMS, VOCABULARY)

# What decides about mails knows the rooms, and nothing of how they are configured or shown.
STRAIGHT = (
    "line",
    "flight",
    "flights",
    "takeoff",
    "leave",
    "hand",
    "rounds",
    "retry",
    "evidence",
    "inquiry",
    "courses",
    "making",
    "reading",
    "fuses",
    "forecast",
    "resending",
    "rules",
    "routes",
    "pauses",
    "endings",
    "aside",
    "resolver",
    "sweep",
)
NOT_ON_THE_LINE = frozenset(
    {
        "settings", "cli", "admin", "service", "parts", "assembly", "demo", "contract", "pages",
        "rotation",
    }
)  # fmt: skip

# Each of these speaks to the world, and does so in one place.
ONLY_IN = {
    "aiokafka": ("intake/kafka",),
    "asyncpg": ("guard",),
    "aiohttp": ("providers", "admin", "demo", "webhooks", "registry.py", "pages/preview.py"),
    "fastavro": ("events",),
    "botocore": ("providers",),
    "aiosmtplib": ("providers",),
    "jinja2": ("catalogue", "pages"),
    "jsonschema_rs": ("catalogue",),
    "confluent_kafka": ("demo", "cli/demo.py"),
    "typer": ("cli",),
    "cryptography": ("webhooks", "guard/sealing.py"),
}


@cache
def imports(source: Path) -> tuple[str, ...]:
    """Return the full names of modules that a file imports, anywhere in it."""
    return tuple(_imports(source))


def _imports(source: Path) -> Iterator[str]:
    for node in statements_of(source):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{source}: relative import"
            assert node.module
            yield node.module
            if node.module == "consumer":
                yield from (f"consumer.{alias.name}" for alias in node.names)


def inside(source: Path) -> str:
    return source.relative_to(ROOT / "consumer").as_posix()


def room(name: str) -> str:
    """Name the room of "consumer.guard.rows" or "guard/rows.py": guard."""
    return name.removeprefix("consumer.").replace("/", ".").removesuffix(".py").partition(".")[0]


def rooms_imported(source: Path) -> set[str]:
    found = {room(name) for name in imports(source) if name.startswith("consumer.")}
    return found - {room(inside(source)), "__version__"}


def test_rooms_know_the_vocabulary_and_never_each_other() -> None:
    too_much = {
        inside(source): rooms_imported(source) - MAY_IMPORT[room(inside(source))]
        for source in SOURCES
        if room(inside(source)) in MAY_IMPORT
    }
    assert {name: rooms for name, rooms in too_much.items() if rooms} == {}


@pytest.mark.parametrize("name", STRAIGHT)
def test_the_line_does_not_know_how_it_is_wired_or_shown(name: str) -> None:
    assert not rooms_imported(ROOT / "consumer" / f"{name}.py") & NOT_ON_THE_LINE


@pytest.mark.parametrize("library", ONLY_IN)
def test_each_library_to_the_world_lives_in_one_place(library: str) -> None:
    users = [
        inside(source)
        for source in SOURCES
        if any(name.partition(".")[0] == library for name in imports(source))
    ]
    assert [user for user in users if not user.startswith(ONLY_IN[library])] == []


def test_no_room_for_odds_and_ends() -> None:
    names = {part for source in SOURCES for part in inside(source).removesuffix(".py").split("/")}
    assert not names & {"utils", "util", "helpers", "helper", "misc", "common"}


def test_sql_is_written_in_the_guard_only() -> None:
    verbs = ("INSERT INTO ", "UPDATE sent_message", "DELETE FROM ", "FROM sent_message")
    elsewhere = [
        inside(source)
        for source in SOURCES
        if room(inside(source)) != "guard"
        if any(verb in text_of(source) for verb in verbs)
    ]
    assert elsewhere == []


def test_files_are_short_enough_to_be_read_at_once() -> None:
    lengths = {inside(source): len(text_of(source).splitlines()) for source in SOURCES}
    assert {name: length for name, length in lengths.items() if length > 300} == {}
