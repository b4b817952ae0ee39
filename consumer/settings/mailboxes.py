"""Addresses in the configuration: who sends, and who may be sent to outside production."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, TypeAlias

from pydantic import AfterValidator, BeforeValidator

from consumer.keys import AddressError, canonical_recipient
from consumer.model import Address
from consumer.settings.values import Names

_WRITTEN: Final = re.compile(r"(?P<name>[^<>]*)<(?P<email>[^<>]*)>")


def _mailbox(value: Any) -> Any:
    """Read "Name <address>" or a bare address."""
    if not isinstance(value, str):
        return value
    written = _WRITTEN.fullmatch(value.strip())
    if written is None:
        return Address(_canonical(value))
    return Address(_canonical(written["email"]), _name(written["name"].strip()))


def _name(name: str) -> str:
    if not name.isprintable():
        raise ValueError("has a name with a character that cannot be printed")
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] == '"' else name


def _canonical(text: str) -> str:
    try:
        return canonical_recipient(text)
    except AddressError as error:
        raise ValueError(f"is no address: it {error}") from None


def _address(value: Any) -> Any:
    return _canonical(value) if isinstance(value, str) else value


def _allow_entry(entry: str) -> str:
    """Bring an address or an "@domain" into the form that recipients are compared in."""
    try:
        if not entry.startswith("@"):
            return canonical_recipient(entry).lower()
        return canonical_recipient(f"any{entry}").removeprefix("any")
    except AddressError as error:
        raise ValueError(f'holds neither an address nor an "@domain": it {error}') from None


def _allow(entries: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(_allow_entry, entries))


Mailbox: TypeAlias = Annotated[Address, BeforeValidator(_mailbox)]
Recipient: TypeAlias = Annotated[str, BeforeValidator(_address)]
AllowList: TypeAlias = Annotated[Names, AfterValidator(_allow)]
