"""Secrets that change while the service runs: their files are read again.

    followed = follow(Path("sendonce.toml"))
    followed.now.postgres.dsn          # as it is by now
    followed.look()                    # read every file again

Only what is in a file that a variable names (SENDONCE_..._FILE) can change, and of that only what a
running service can take up. A file that is gone, empty or wrong changes nothing: what was good goes
on. Each is one line of the log, with the setting's name and never with anything of its value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import structlog

from consumer.settings.dsn import is_dsn, same_place
from consumer.settings.files import UnusableFileError, read_value
from consumer.settings.loading import checked, load_with_sources
from consumer.settings.problems import Place, Problem, SettingsError, setting_name
from consumer.settings.sections import Settings
from consumer.settings.sources import Sources

log = structlog.get_logger("settings")

DSN: Final = ("postgres", "dsn")
# What a provider knows us by, in any of its sections. Names that go with a secret rotate with it.
CREDENTIALS: Final = frozenset(
    {
        "token", "api_key", "username", "password", "access_key_id", "secret_access_key",
        "session_token", "webhook_secret",
    }
)  # fmt: skip
# `guard.fingerprint_key` is not here: under another key every mail would look like another one.
OTHERS: Final[frozenset[Place]] = frozenset(
    {
        DSN, ("postgres", "password"), ("kafka", "sasl_username"),
        ("kafka", "sasl_password"), ("admin", "token"), ("registry", "username"),
        ("registry", "password"),
    }
)  # fmt: skip


def follow(path: Path | None, environ: Mapping[str, str] | None = None) -> Followed:
    """Load as `load` does, and remember the files. Raises `SettingsError`."""
    return Followed(*load_with_sources(path, environ))


class Followed:
    """The configuration of a running service; `now` is what holds."""

    def __init__(self, sources: Sources, settings: Settings) -> None:
        self._sources = sources
        self._told: dict[Place, str] = {}  # what is wrong with a file, or not taken up, as told
        self.now = settings

    def look(self) -> Settings:
        """Read all files again, take up what changed, and return what holds by now."""
        changed = {}
        for place, file in self._sources.files.items():
            if (text := self._read(place, file)) is not None:
                changed[place] = text
        self._take_up(changed)
        return self.now

    def _read(self, place: Place, file: str) -> str | None:
        """Return what the file holds, where that is news; tell what keeps it from being taken."""
        try:
            text = read_value(file)
        except UnusableFileError as error:
            self._tell(place, f"{error}; the value from before stays")
            return None
        if text == self._sources.section(*place):
            self._told.pop(place, None)
            return None
        if why := self._refused(place, text):
            self._tell(place, f"{why}; taken up by a restart only")
            return None
        return text

    def _refused(self, place: Place, text: str) -> str | None:
        """Say why a running service cannot go on with it, where that is so."""
        if place not in OTHERS and not (place[0] == "providers" and place[-1] in CREDENTIALS):
            return "has changed"
        before = self.now.postgres.dsn.get_secret_value()
        if place == DSN and is_dsn(text) and not same_place(before, text):
            return "leads to another database, which may know nothing of what was sent"
        return None

    def _take_up(self, changed: dict[Place, str]) -> None:
        """Take all that changed together; what is wrong is left out, and told."""
        while changed:
            sources = self._sources.with_values(changed)
            try:
                self.now = checked(sources)
            except SettingsError as error:
                changed = self._without(changed, error.problems)
                continue
            self._sources = sources
            for place in changed:
                self._told.pop(place, None)
                log.info("secret changed", setting=setting_name(place))
            return

    def _without(
        self, changed: Mapping[Place, str], problems: Iterable[Problem]
    ) -> dict[Place, str]:
        """Leave out what is named; where nothing of it is, it is wrong together: leave out all."""
        texts = {problem.setting: problem.text for problem in problems}
        named = {place: texts[name] for place in changed if (name := setting_name(place)) in texts}
        wrong = named or dict.fromkeys(changed, "does not go with the other settings")
        for place, why in wrong.items():
            self._tell(place, f"its file's value {why}; the value from before stays")
        return {place: text for place, text in changed.items() if place not in wrong}

    def _tell(self, place: Place, why: str) -> None:
        """Tell it once, until it is another thing or mended."""
        if self._told.get(place) != why:
            self._told[place] = why
            log.warning("secret not taken up", setting=setting_name(place), why=why)
