"""The sources of the house, each read and parsed once."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "consumer").rglob("*.py"))


@cache
def text_of(source: Path) -> str:
    return source.read_text("utf-8")


@cache
def nodes_of(source: Path) -> tuple[ast.AST, ...]:
    """Return every node of a file, from the outside in."""
    return tuple(ast.walk(ast.parse(text_of(source))))
