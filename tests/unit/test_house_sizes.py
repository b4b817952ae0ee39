"""The law of the house, second part: no circles, and nothing too big to be read at once.

What breaks a law is printed, all of it, with file and line.
"""

from __future__ import annotations

import ast
import statistics
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.unit.house import ROOT, SOURCES, statements_of, text_of

MAX_FILE = 250  # lines
MAX_FUNCTION = 40  # lines without the docstring
MOST_FUNCTIONS = 20  # nine in ten are shorter
MEDIAN_FUNCTION = 8


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_module(path): path for path in SOURCES}


def _at(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT)}:{line}"


def _keep(broken: Iterator[str]) -> None:
    if lines := list(broken):
        pytest.fail("\n".join(lines), pytrace=False)


# ── Imports


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and full name of everything that is imported, wherever in the file."""
    for node in statements_of(path):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{_at(path, node.lineno)}: relative"
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


@cache
def _edges(path: Path) -> set[str]:
    """Return the modules of ours that this file needs."""
    ours = (name for _, name in _imports(path) if name.split(".")[0] == "consumer")
    return set(map(_known, ours)) - {_module(path)}


def _known(name: str) -> str:
    """Cut a name down to the module that it lies in."""
    while name not in MODULES:
        name = name.rpartition(".")[0]
    return name


def _circle(module: str, way: tuple[str, ...], done: set[str]) -> tuple[str, ...] | None:
    if module in way:
        return (*way[way.index(module) :], module)
    if module in done:
        return None
    found = (_circle(n, (*way, module), done) for n in sorted(_edges(MODULES[module])))
    circle = next(filter(None, found), None)
    done.add(module)
    return circle


def test_there_is_no_circle() -> None:
    done: set[str] = set()
    circles = (_circle(module, (), done) for module in MODULES)
    _keep(" -> ".join(circle) for circle in circles if circle)


# The demo runs from a clone, says so where there is none, and borrows the tests' Postgres there.
RUNS_FROM_A_CLONE = ROOT / "consumer/demo/world.py"


def test_the_program_imports_no_test() -> None:
    _keep(
        f"{_at(path, line)}: {name}"
        for path in SOURCES
        if path != RUNS_FROM_A_CLONE
        for line, name in _imports(path)
        if name.split(".")[0] in ("tests", "pytest", "hypothesis")
    )


# ── Sizes


def test_files_are_short() -> None:
    lengths = ((path, len(text_of(path).splitlines())) for path in SOURCES)
    _keep(f"{_at(path, length)} lines" for path, length in lengths if length > MAX_FILE)


@cache
def _functions() -> list[tuple[int, str]]:
    return [
        (_length(node), f"{_at(path, node.lineno)} {node.name}")
        for path in SOURCES
        for node in statements_of(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count lines from `def` on, without decorators and the docstring."""
    whole = (node.end_lineno or node.lineno) - node.lineno + 1
    first = node.body[0]
    if ast.get_docstring(node) is None or first.end_lineno is None:
        return whole
    return whole - (first.end_lineno - first.lineno + 1)


def test_no_function_is_long() -> None:
    _keep(f"{at}: {n} lines" for n, at in _functions() if n > MAX_FUNCTION)


def test_nine_functions_in_ten_are_short() -> None:
    functions = sorted(_functions())
    long = [(n, at) for n, at in functions if n > MOST_FUNCTIONS]
    assert statistics.median(n for n, _ in functions) <= MEDIAN_FUNCTION
    if len(long) > len(functions) / 10:
        _keep(f"{at}: {n} lines" for n, at in long)


def test_the_law_looks_at_something() -> None:
    """Guards the guard."""
    assert len(SOURCES) > 20
    assert len(_functions()) > 200
    assert {"consumer.model", "consumer.events.strict"} <= _edges(MODULES["consumer.events"])
