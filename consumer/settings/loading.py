"""Reading the whole configuration, and saying everything that is wrong with it at once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from consumer.providers import OPTIONS
from consumer.settings.checks import contradictions
from consumer.settings.problems import (
    Place,
    Problem,
    SettingsError,
    explain,
    setting_name,
    suggestion,
)
from consumer.settings.schema import NAMED, OPTIONAL, SECTIONS
from consumer.settings.sections import Settings
from consumer.settings.sources import Sources, read_sources

DEFAULT_PATH: Final = Path("sendonce.toml")


def load(path: Path | None, environ: Mapping[str, str] | None = None) -> Settings:
    """Read file and environment (default: the process's own). Raises `SettingsError`.

    None: no file. The default file may be missing, since all can come from the environment; a
    file that was asked for may not.
    """
    return load_with_sources(path, environ)[1]


def load_with_sources(
    path: Path | None, environ: Mapping[str, str] | None = None
) -> tuple[Sources, Settings]:
    """Load as `load` does, and return where everything came from as well."""
    missing = path if path == DEFAULT_PATH and not path.exists() else None
    sources = read_sources(None if missing else path, os.environ if environ is None else environ)
    if sources.unread:
        raise SettingsError(sources.problems)
    try:
        return sources, checked(sources)
    except SettingsError as error:
        if missing is None:
            raise
        raise SettingsError(_without(missing, sources, error.problems)) from None


def _without(path: Path, sources: Sources, problems: Sequence[Problem]) -> list[Problem]:
    """Say first that there is no file; where nothing is set at all, that is the whole story."""
    text = f"was not found in {path.absolute().parent}; name another file with --config"
    first = Problem(str(path), text)
    return [first, *problems] if sources.tree or sources.problems else [first]


def checked(sources: Sources) -> Settings:
    """Read everything in `sources`. Raises `SettingsError` with all that is wrong."""
    reading = _Reading(sources)
    parts = reading.parts()
    for place, text in contradictions(parts):
        reading.problem(place, text)
    if reading.problems:
        raise SettingsError(reading.problems)
    return Settings.model_validate(parts)


class _Reading:
    """One reading of all sections; collects problems on the way."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self.problems = list(sources.problems)

    def parts(self) -> dict[str, Any]:
        """Return what could be read, by the names of `Settings`."""
        self._refuse_unknown()
        parts: dict[str, Any] = {name: self._section(name) for name in SECTIONS}
        return parts | {name: self._named(name) for name in NAMED}

    def _refuse_unknown(self) -> None:
        known = (*SECTIONS, *NAMED)
        for name in self._sources.tree.keys() - set(known):
            self.problem((name,), f"is unknown{suggestion(name, known)}")

    def _section(self, name: str) -> BaseModel | None:
        value = self._sources.section(name)
        if value is None and name in OPTIONAL:
            return None
        return self._read(SECTIONS[name], {} if value is None else value, (name,))

    def _named(self, section: str) -> dict[str, BaseModel]:
        value = self._sources.section(section)
        if not isinstance(value, dict | None):
            self.problem((section,), f"must be sections like [{section}.name]")
            return {}
        read = {name: self._one(section, name, inner) for name, inner in (value or {}).items()}
        return {name: one for name, one in read.items() if one is not None}

    def _one(self, section: str, name: str, value: Any) -> BaseModel | None:
        place = (section, name)
        model = NAMED[section]
        if model is not None:
            return self._read(model, value, place)
        return self._provider(value, place)

    def _provider(self, value: Any, place: Place) -> BaseModel | None:
        if not isinstance(value, dict):
            self.problem(place, "must be a section")
            return None
        kind = str(value.get("type", place[-1]))
        if kind not in OPTIONS:
            text = f"must be one of {', '.join(sorted(OPTIONS))} (default: the section's name)"
            self.problem((*place, "type"), text)
            return None
        return self._read(OPTIONS[kind], {**value, "type": kind}, place)

    def _read(self, model: type[BaseModel], value: Any, place: Place) -> BaseModel | None:
        if not isinstance(value, dict):
            self.problem(place, "must be a section")
            return None
        try:
            return model.model_validate(value)
        except ValidationError as error:
            self.problems += explain(error, place, _names(model), self._sources.origin)
            return None

    def problem(self, place: Place, text: str) -> None:
        self.problems.append(Problem(setting_name(place), text, self._sources.origin(place)))


def _names(model: type[BaseModel]) -> tuple[str, ...]:
    return tuple(field.alias or name for name, field in model.model_fields.items())
