"""The keys of somebody's mails, for `sendonce show ADDRESS`: by the address, or by its hash."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Final

from consumer.cli import printing
from consumer.cli.app import StopError
from consumer.cli.forget import known_address
from consumer.cli.guarded import at_desk

_MOST: Final = 100
_PATIENCE: Final = 120.0  # seconds: all rows are read


def list_keys(address: str, config: Path, *, as_json: bool) -> None:
    """Print the newest mails of an address."""
    who = known_address(address)
    found = at_desk(config, lambda desk: desk.of_address(who, _MOST), _PATIENCE)
    if as_json:
        printing.document([asdict(one) for one in found])
    elif not found:
        raise StopError("the guard knows no mail to this address")
    else:
        columns = ("key", "mail type", "status", "claimed", "sent")
        printing.table(
            columns,
            [(one.key, one.mail_type, one.status, one.claimed_at, one.sent_at) for one in found],
        )
