"""`sendonce discard`: a person gives up dead letters, or what stands open under a key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from consumer.cli import printing
from consumer.cli.app import DEFAULT_CONFIG, ConfigOption, JsonOption, StopError, app
from consumer.cli.guarded import EACH, PATIENCE, at_desk
from consumer.cli.signed import ByOption, WhyOption, note
from consumer.guard.desk import Desk
from consumer.guard.operators import Discarded, DiscardResult, NotDone
from consumer.keys import is_key

_LONGEST_ID = 18  # digits of an id that its column can hold


@app.command()
def discard(
    things: Annotated[list[str], typer.Argument(metavar="ID|KEY", help="Dead letters, or keys.")],
    by: ByOption = None,
    why: WhyOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    as_json: JsonOption = False,
) -> None:
    """Give up: close dead letters, and the row of a key that nobody knows the outcome of.

    An unknown row becomes `discarded`: its key stays taken, so nothing sends it by accident, and
    proof that it was sent is still taken. Upstream is told. What is in flight is refused.

    Examples:
      sendonce discard 41 42 --by ada --why "test data"
      sendonce discard 0f3c... --by ada --why "customer was called"
    """
    signed = note(by, why, "discard")
    for thing in things:
        _check(thing)
    patience = PATIENCE + EACH * len(things)
    results = at_desk(config, lambda desk: _all(desk, things, signed), patience)
    done = list(zip(things, results, strict=True))
    if as_json:
        printing.document([_facts(*one) for one in done])
    else:
        for thing, result in done:
            printing.say(_told(thing, result))
    if any(isinstance(result, NotDone) for result in results):
        raise typer.Exit(1)


def _check(thing: str) -> None:
    is_id = thing.isascii() and thing.isdigit() and len(thing) <= _LONGEST_ID
    if not (is_id or is_key(thing)):
        raise StopError(
            f"{thing}: neither the id of a dead letter nor a key of 48 characters", code=2
        )


async def _all(desk: Desk, things: Sequence[str], signed: str) -> list[DiscardResult]:
    return [
        await (desk.discard_key(thing, signed) if is_key(thing) else _letter(desk, thing, signed))
        for thing in things
    ]


async def _letter(desk: Desk, thing: str, signed: str) -> DiscardResult:
    return await desk.discard_letter(int(thing), signed)


def _facts(thing: str, result: DiscardResult) -> dict[str, object]:
    if isinstance(result, NotDone):
        return {"asked": thing, "discarded": False, "problem": result.why}
    row = result.row
    return {
        "asked": thing,
        "discarded": True,
        "dead_letters": result.letters,
        "idempotency_key": row and row.key,
        "was": row and row.status,
    }


def _told(thing: str, result: DiscardResult) -> str:
    if not isinstance(result, Discarded):
        return f"{thing}: refused: {result.why}"
    closed = ", ".join(map(str, result.letters)) or "none"
    if result.row is None:
        return f"{thing}: dead letters discarded: {closed}"
    return f"{thing}: {result.row.status} row discarded; dead letters discarded: {closed}"
