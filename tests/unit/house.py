"""The sources of the house, each read and parsed once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "consumer").rglob("*.py"))


@cache
def text_of(source: Path) -> str:
    return source.read_text("utf-8")


@cache
def statements_of(source: Path) -> tuple[ast.AST, ...]:
    """Return every statement of a file, however deep: a law is never about a mere expression."""
    return tuple(_statements(ast.parse(text_of(source))))


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            yield child
            yield from _statements(child)
