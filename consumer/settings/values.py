"""The types that settings are written in.

TOML has types of its own and is read strictly: `port = "8080"` is a mistake. The environment has
only text, so a value from there (`EnvironmentText`) is first read as what the setting is.
No error text repeats a value: it may be a secret in the wrong place.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr

from consumer.providers.options import http_url, seconds
from consumer.settings.dsn import check_dsn

_TRUTHS: Final = {"true": True, "false": False}
_HOST_PORT: Final = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}")
_START: Final = 'must be "earliest", "latest" or a time like "2026-01-31T00:00:00Z"'


class EnvironmentText(str):
    """A value that came from the environment, or from a file that the environment names."""

    __slots__ = ()


class Section(BaseModel):
    """What all sections have in common: nothing unknown, nothing bent into shape, no changes."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def _in_environment(read: Callable[[str], Any]) -> BeforeValidator:
    def read_text(value: Any) -> Any:
        return read(value) if isinstance(value, EnvironmentText) else value

    return BeforeValidator(read_text)


def _whole(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise ValueError("must be a whole number")
    return int(text)


def _truth(text: str) -> bool:
    if text.lower() not in _TRUTHS:
        raise ValueError("must be true or false")
    return _TRUTHS[text.lower()]


def _duration(value: Any) -> Any:
    match value:
        case str():
            return seconds(value)
        case _:
            raise ValueError('must be a duration in quotes: "500ms", "30s", "10m", "24h" or "30d"')


def _items(value: Any) -> Any:
    """Read a list; in the environment it is written "a, b" or ["a", "b"]."""
    if isinstance(value, EnvironmentText):
        return _toml_list(value) if value.startswith("[") else _separated(value)
    return tuple(value) if isinstance(value, list) else value


def _toml_list(text: str) -> Any:
    try:
        return tuple(tomllib.loads(f"list = {text}")["list"])
    except tomllib.TOMLDecodeError:
        raise ValueError('must be a list like "a, b" or ["a", "b"]') from None


def _separated(text: str) -> tuple[str, ...]:
    return tuple(part for item in text.split(",") if (part := item.strip()))


def _servers(value: Any) -> Any:
    servers = _separated(value) if isinstance(value, str) else _items(value)
    if isinstance(servers, tuple) and not all(_is_server(server) for server in servers):
        raise ValueError('must be "host:port", or several of them with commas')
    return servers


def _is_server(server: Any) -> bool:
    return isinstance(server, str) and _HOST_PORT.fullmatch(server) is not None


def _start(value: Any) -> Any:
    """Read when to start: a word, or an instant with an offset."""
    if value in ("earliest", "latest"):
        return str(value)
    try:
        instant = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError(_START) from None
    if not isinstance(instant, datetime) or instant.tzinfo is None:
        raise ValueError(_START)
    return instant


def _path(value: Any) -> Any:
    return Path(value) if isinstance(value, str) and value else value


def _file(value: Any) -> Any:
    path = _path(value)
    if isinstance(path, Path) and not path.is_file():
        raise ValueError("names a file that is not there")
    return path


def _dsn(value: SecretStr) -> SecretStr:
    check_dsn(value.get_secret_value())
    return value


Text: TypeAlias = Annotated[str, Field(min_length=1)]
Secret: TypeAlias = Annotated[SecretStr, Field(min_length=1)]
Whole: TypeAlias = Annotated[int, _in_environment(_whole)]
Truth: TypeAlias = Annotated[bool, _in_environment(_truth)]
Port: TypeAlias = Annotated[Whole, Field(ge=0, le=65535)]
Duration: TypeAlias = Annotated[float, Field(gt=0), BeforeValidator(_duration)]
Names: TypeAlias = Annotated[tuple[Text, ...], BeforeValidator(_items)]
Servers: TypeAlias = Annotated[tuple[Text, ...], Field(min_length=1), BeforeValidator(_servers)]
StartFrom: TypeAlias = Annotated[Literal["earliest", "latest"] | datetime, BeforeValidator(_start)]
Folder: TypeAlias = Annotated[Path, BeforeValidator(_path)]
ExistingFile: TypeAlias = Annotated[Path, BeforeValidator(_file)]
HttpUrl: TypeAlias = Annotated[Text, AfterValidator(http_url)]
Dsn: TypeAlias = Annotated[Secret, AfterValidator(_dsn)]
