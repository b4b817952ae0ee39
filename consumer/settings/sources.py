"""Where the values come from: the tree of the TOML file, with the environment laid over it."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from consumer.settings.environment import Variable, read_variables
from consumer.settings.problems import Place, Problem, setting_name
from consumer.settings.values import EnvironmentText


@dataclass(slots=True)
class Sources:
    """`tree` is what holds, `written` what the file says, `origins` the variable behind a value.

    `files`: the path behind a value that a variable has from a file of its own.
    """

    file: str
    written: Mapping[str, Any]
    tree: dict[str, Any] = field(default_factory=dict)
    origins: dict[Place, str] = field(default_factory=dict)
    files: dict[Place, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    unread: bool = False  # the file cannot be read: what is in it, nobody can say

    def origin(self, place: Place) -> str:
        """Say where a setting, or the section around it, was written; empty where it was not."""
        for length in range(len(place), 0, -1):
            if variable := self.origins.get(place[:length]):
                return variable
        if any(_at(self.written, part) is not None for part in (place, place[:-1]) if part):
            return self.file
        near = (name for at, name in self.origins.items() if at[: len(place)] == place)
        return next(near, "")

    def section(self, *place: str) -> Any:
        """Return what stands there; None where nothing does."""
        return _at(self.tree, place)

    def with_values(self, values: Mapping[Place, str]) -> Sources:
        """Return the same with other values at places that have one."""
        tree = copy.deepcopy(self.tree)
        for place, value in values.items():
            _at(tree, place[:-1])[place[-1]] = EnvironmentText(value)
        return replace(self, tree=tree)


def _at(tree: Any, place: Place) -> Any:
    for part in place:
        tree = tree.get(part) if isinstance(tree, dict) else None
    return tree


def read_sources(path: Path | None, environ: Mapping[str, str]) -> Sources:
    """Read both. Of a file that cannot be read, `unread` is set and nothing else can be said."""
    sources = _read_file(path)
    if sources.unread:
        return sources
    sources.tree = copy.deepcopy(dict(sources.written))
    variables, problems = read_variables(environ, sources.written)
    sources.problems += problems
    for variable in variables:
        _lay_over(sources, variable)
    return sources


def _read_file(path: Path | None) -> Sources:
    if path is None:
        return Sources("no file", {})
    try:
        return Sources(str(path), tomllib.loads(path.read_text("utf-8")))
    except OSError as error:
        text = f"cannot be read: {error.strerror}"
    except UnicodeDecodeError:
        text = "is not UTF-8"
    except tomllib.TOMLDecodeError as error:
        text = f"is not TOML: {error}"
    return Sources(str(path), {}, problems=[Problem(str(path), text)], unread=True)


def _lay_over(sources: Sources, variable: Variable) -> None:
    node = sources.tree
    for part in variable.place[:-1]:
        node = node.setdefault(part, {})
        if not isinstance(node, dict):
            name = setting_name(variable.place)
            sources.problems.append(Problem(name, "lies inside a plain value", variable.name))
            return
    node[variable.place[-1]] = variable.value
    sources.origins[variable.place] = variable.name
    if variable.file is not None:
        sources.files[variable.place] = variable.file
