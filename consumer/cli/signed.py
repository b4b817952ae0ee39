"""Who asks for something that cannot be taken back, and why: kept beside what was done."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from consumer.cli.app import StopError

ByOption = Annotated[
    str | None,
    typer.Option("--by", metavar="NAME", help="Who asks for it.", show_default=False),
]
WhyOption = Annotated[
    str | None,
    typer.Option("--why", metavar="TEXT", help="Why; kept in the history.", show_default=False),
]


def note(by: str | None, why: str | None, what: str) -> str:
    """Return what is kept of it: name, time and reason. `what` needs it, in the refusal."""
    who, reason = signed(by, why, what)
    return f"by {who}, {datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f} UTC: {reason}"


def signed(by: str | None, why: str | None, what: str) -> tuple[str, str]:
    """Return both, of which none may be missing."""
    if not by or not by.strip() or not why or not why.strip():
        raise StopError(f"{what} needs a name and a reason: --by NAME --why TEXT", code=2)
    return by, why
