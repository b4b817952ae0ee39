"""`sendonce settle`: a person found at the provider what the service could not ask for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Final

import typer

from consumer.cli import printing
from consumer.cli.app import DEFAULT_CONFIG, ConfigOption, JsonOption, StopError, app
from consumer.cli.guarded import EACH, PATIENCE, at_desk
from consumer.cli.signed import ByOption, WhyOption, note
from consumer.guard.desk import Desk
from consumer.guard.operators import NotDone
from consumer.guard.settling import Settled, SettleResult
from consumer.keys import is_key
from consumer.model import Status

_ID: Final = re.compile(r"[!-~]{1,255}")  # as webhooks may tell it
_FOREIGN: Final = (
    "what stands behind the = is an address, or the Message-ID of another mail: ours begins with"
    " the key; of one that SES made, give what stands before the @"
)


@app.command()
def settle(
    found: Annotated[
        list[str],
        typer.Argument(metavar="KEY=ID", help="A key, and the mail's id at its provider."),
    ],
    by: ByOption = None,
    why: WhyOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    as_json: JsonOption = False,
) -> None:
    r"""Record that a provider has a mail whose outcome nobody knows: it was sent.

    For what the service cannot ask for: look the key up at the provider first. The row becomes
    `sent`, with your name; its dead letters are closed, and upstream is told. Nothing is sent.

    Examples:
      sendonce settle 0f3c...=0a1b-77 --by ada --why "seen in the relay's log"
      xargs -d '\n' sendonce settle --by ada --why "the relay's log" < found.txt
    """
    signed = note(by, why, "settle")
    pairs = [_pair(text) for text in found]
    patience = PATIENCE + EACH * len(pairs)
    results = at_desk(config, lambda desk: _all(desk, pairs, signed), patience)
    done = list(zip(pairs, results, strict=True))
    if as_json:
        printing.document([_facts(*one) for one in done])
    else:
        for pair, result in done:
            printing.say(_told(pair, result))
    if any(isinstance(result, NotDone) for result in results):
        raise typer.Exit(1)


def _pair(text: str) -> tuple[str, str]:
    key, _, written = text.partition("=")
    message_id = written.removeprefix("<").removesuffix(">")
    if not is_key(key):
        raise StopError(f"{text}: does not begin with a key of 48 characters, and =", code=2)
    if not _ID.fullmatch(message_id):
        raise StopError(f"{key}: behind the = stands the mail's id, one word of ASCII", code=2)
    if "@" in message_id and not message_id.startswith(f"{key}@"):
        raise StopError(f"{key}: {_FOREIGN}", code=2)
    return key, message_id


async def _all(desk: Desk, pairs: Sequence[tuple[str, str]], signed: str) -> list[SettleResult]:
    return [await desk.settle(key, message_id, signed) for key, message_id in pairs]


def _facts(pair: tuple[str, str], result: SettleResult) -> dict[str, object]:
    key, message_id = pair
    if isinstance(result, NotDone):
        return {"idempotency_key": key, "settled": False, "problem": result.why}
    return {
        "idempotency_key": key,
        "settled": True,
        "was": result.row.status,
        "provider": result.provider,
        "provider_message_id": message_id,
        "made_again_as": result.next,
    }


def _told(pair: tuple[str, str], result: SettleResult) -> str:
    key, message_id = pair
    if not isinstance(result, Settled):
        return f"{key}: refused: {result.why}"
    if result.row.status is Status.SENT:
        return f"{key}: is sent already: {result.provider} has it as {message_id}"
    told = f"{key}: was {result.row.status}, is sent: {result.provider} has it as {message_id}"
    return (
        told if result.next is None else f"{told}. IT WAS MADE AGAIN, as {result.next}: see there"
    )
