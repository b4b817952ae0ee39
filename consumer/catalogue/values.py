"""How single values of `mail.toml` are written, and read."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Final

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import CoreSchema, core_schema

from consumer.catalogue.paths import Path, Source, parse_path, parse_source
from consumer.keys import RESENT, AddressError, canonical_recipient
from consumer.model import Address

_DURATION = re.compile(r"(\d{1,9})(ms|s|m|h|d)")
_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SIZE = re.compile(r"(\d{1,6})(KB|MB)")
_BYTES: Final = {"KB": 1_000, "MB": 1_000_000}


def parse_duration(value: object) -> float:
    """Return the seconds of "30s", "10m", "24h" or "30d"; ValueError for anything else."""
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    if match is None or int(match[1]) == 0:
        raise ValueError('write a duration as "30s", "10m", "24h" or "30d"')
    return int(match[1]) * _SECONDS[match[2]]


def parse_size(value: object) -> int:
    """Return the bytes of "500KB" or "5MB" (powers of ten); ValueError for anything else."""
    match = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if match is None or int(match[1]) == 0:
        raise ValueError('write a size as "500KB" or "5MB"')
    return int(match[1]) * _BYTES[match[2]]


def parse_mailbox(text: str) -> Address:
    """Read `ada@example.com` or `Name <ada@example.com>`; ValueError says why not."""
    name, bracket, rest = text.rpartition("<")
    if bracket and not rest.endswith(">"):
        raise ValueError("write ada@example.com or Name <ada@example.com>")
    try:
        return Address(canonical_recipient(rest.removesuffix(">")), name.strip().strip('"'))
    except AddressError as error:
        raise ValueError(str(error)) from None


def _paths(value: object) -> tuple[Path, ...]:
    several = value if isinstance(value, list) else [value]
    if not several:
        raise ValueError("name at least one path")
    return tuple(parse_path(one) for one in several)


def _path_list(value: object) -> tuple[Path, ...]:
    match value:
        case list():
            return tuple(parse_path(one) for one in value)
        case _:
            raise ValueError("write a list of paths")


def _version(name: str) -> str:
    if name.lower().startswith(RESENT):
        raise ValueError(f"names that begin with {RESENT!r} are those of mails made again by hand")
    return name


def unique(names: list[str]) -> list[str]:
    if len(set(names)) < len(names):
        raise ValueError("named twice")
    return names


@dataclass(frozen=True, slots=True)
class _Read:
    """Marks a type that one function of ours reads, and pydantic does not look into."""

    by: Callable[[object], object]

    def __get_pydantic_core_schema__(self, *_: object) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.by)


APath = Annotated[Path, _Read(parse_path)]
ASource = Annotated[Source, _Read(parse_source)]
OneOrMorePaths = Annotated[tuple[Path, ...], _Read(_paths)]
PathList = Annotated[tuple[Path, ...], _Read(_path_list)]
Text = Annotated[str, Field(min_length=1, max_length=255)]
Version = Annotated[Text, AfterValidator(_version)]
Duration = Annotated[float, BeforeValidator(parse_duration)]
Size = Annotated[int, BeforeValidator(parse_size)]
