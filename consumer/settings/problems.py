"""What is wrong with a configuration, said so that it can be put right without asking anybody."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from pydantic import ValidationError

Place: TypeAlias = tuple[str, ...]  # ("providers", "postmark", "token")

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
PREFIX: Final = "SENDONCE_"


@dataclass(frozen=True, slots=True)
class Problem:
    """`setting` is written as in the file ("kafka.start_from"); `source`: a file or a variable."""

    setting: str
    text: str
    source: str = ""

    def __str__(self) -> str:
        return f"{self.setting}: {self.text}" + (f" ({self.source})" if self.source else "")


class SettingsError(ValueError):
    """The configuration cannot be used. The text names every problem, one a line."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


def setting_name(place: Sequence[str]) -> str:
    """Write a place as TOML does: topics."orders.v1".ignore."""
    return ".".join(part if _BARE.fullmatch(part) else json.dumps(part) for part in place)


def variable_name(place: Sequence[str]) -> str:
    return PREFIX + "__".join(re.sub(r"[^A-Z0-9]", "_", part.upper()) for part in place)


def explain(
    error: ValidationError, section: Place, known: Sequence[str], origin: Callable[[Place], str]
) -> list[Problem]:
    """Turn what pydantic found in one section into problems; no value is repeated."""
    return [_problem(dict(found), section, known, origin) for found in error.errors()]


def _problem(
    found: dict[str, Any], section: Place, known: Sequence[str], origin: Callable[[Place], str]
) -> Problem:
    inner = [str(part) for part in found["loc"]]
    place = (*section, *(part for part in inner if _BARE.fullmatch(part)))
    return Problem(setting_name(place), _text(found, place, known), origin(place))


def _text(found: dict[str, Any], place: Place, known: Sequence[str]) -> str:
    context = found.get("ctx", {})
    match found["type"]:
        case "missing":
            return f"is needed; write it into the file or set {variable_name(place)}"
        case "extra_forbidden":
            return f"is unknown{suggestion(place[-1], known)}"
        case "value_error":
            return str(context["error"])
        case "string_too_short" | "too_short":
            return "is empty"
        case _:
            return str(found["msg"]).replace("Input should be", "must be").replace("tuple", "list")


def suggestion(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]}?" if close else f"; known are {', '.join(sorted(known))}"
