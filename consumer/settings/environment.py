"""SENDONCE_SECTION__NAME: settings in the environment.

    SENDONCE_POSTGRES__DSN=...                       postgres.dsn
    SENDONCE_PROVIDERS__POSTMARK__TOKEN_FILE=/x      providers.postmark.token, read from the file /x
    SENDONCE_TOPICS__ORDERS_V1__IGNORE=a,b           topics."orders.v1".ignore, if the file has it

Names fold to lower case; the name of a topic, sender or provider is found in the file whatever its
punctuation, which variables cannot spell.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from consumer.settings.files import UnusableFileError, read_value
from consumer.settings.problems import PREFIX, Place, Problem, setting_name, variable_name
from consumer.settings.schema import NAMED, SECTIONS
from consumer.settings.values import EnvironmentText

_FILE: Final = "_file"
_NO_SETTING: Final = "is no setting: write SENDONCE_SECTION__NAME"
_TESTS: Final = "SENDONCE_TEST_"  # where the tests find a broker and a database
# What Kubernetes puts there by itself for a Service that is named sendonce or sendonce-admin.
_SERVICE_LINK: Final = re.compile(r"_SERVICE_(HOST|PORT\w*)\Z|_PORT_[0-9]+_(TCP|UDP|SCTP)")
_SERVICE_URL: Final = re.compile(r"(tcp|udp|sctp)://")


@dataclass(frozen=True, slots=True)
class Variable:
    """`file`: the path that the value was read from, where the variable names one."""

    name: str
    place: Place
    value: EnvironmentText
    file: str | None = None


def read_variables(
    environ: Mapping[str, str], tree: Mapping[str, Any]
) -> tuple[list[Variable], list[Problem]]:
    ours = {name: value for name, value in sorted(environ.items()) if name.startswith(PREFIX)}
    read = [_read(name, value, tree) for name, value in ours.items()]
    variables = [found for found in read if isinstance(found, Variable)]
    problems = [found for found in read if isinstance(found, Problem)]
    return variables, problems + _set_twice(variables)


def _read(name: str, value: str, tree: Mapping[str, Any]) -> Variable | Problem | None:
    parts = name.removeprefix(PREFIX).split("__")
    if len(parts) == 1:
        return _misspelt(name, value)
    if "" in parts:
        return Problem(name, _NO_SETTING)
    place = tuple(part.lower() for part in parts)
    if place[-1].endswith(_FILE):
        return _from_file(name, value, _found(_without_file(place), tree))
    return Variable(name, _found(place, tree), EnvironmentText(value))


def _without_file(place: Place) -> Place:
    return (*place[:-1], place[-1].removesuffix(_FILE))


def _from_file(name: str, path: str, place: Place) -> Variable | Problem:
    try:
        return Variable(name, place, EnvironmentText(read_value(path)), path)
    except UnusableFileError as error:
        return Problem(setting_name(place), str(error), name)


def _found(place: Place, tree: Mapping[str, Any]) -> Place:
    """Give the second part the spelling that the file has for it, if it has one."""
    named = tree.get(place[0])
    if place[0] not in NAMED or not isinstance(named, dict):
        return place
    spelt = next((name for name in named if _folded(name) == _folded(place[1])), place[1])
    return (place[0], spelt, *place[2:])


def _folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "_", name.lower())


def _misspelt(name: str, value: str) -> Problem | None:
    """Notice SENDONCE_POSTGRES_DSN, and whatever else nobody reads."""
    if name.startswith(_TESTS) or _SERVICE_LINK.search(name) or _SERVICE_URL.match(value):
        return None
    section, _, setting = name.removeprefix(PREFIX).lower().partition("_")
    model = SECTIONS.get(section)
    if model is None or setting.removesuffix(_FILE) not in model.model_fields:
        return Problem(name, _NO_SETTING)
    meant = variable_name((section, setting))
    return Problem(name, f"is not read: between section and name are two _, as in {meant}")


def _set_twice(variables: Iterable[Variable]) -> list[Problem]:
    counted = Counter(variable.place for variable in variables)
    return [
        Problem(setting_name(place), "is set by more than one variable", "environment")
        for place, times in counted.items()
        if times > 1
    ]
