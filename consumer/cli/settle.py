"""`sendonce settle`: a person found at the provider what the service could not ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

import typer

from consumer.cli import printing
from consumer.cli.app import DEFAULT_CONFIG, ConfigOption, JsonOption, StopError, app
from consumer.cli.guarded import at_desk
from consumer.cli.signed import ByOption, WhyOption, note
from consumer.guard.desk import Desk
from consumer.guard.operators import NotDone
from consumer.guard.settling import SettleResult
from consumer.keys import is_key

_LONGEST: Final = 300  # characters of an id; the longest of the providers' own are Message-IDs


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
    """Record that a provider has a mail whose outcome nobody knows: it was sent, once.

    For what the service cannot ask for: look the key up at the provider first. The row becomes
    `sent`, with your name; its dead letters are closed, and upstream is told. Nothing is sent.

    Examples:
      sendonce settle 0f3c...=0a1b-77 --by ada --why "seen in the relay's log"
      xargs sendonce settle --by ada --why "the relay's log" < found.txt
    """
    signed = note(by, why, "settle")
    pairs = [_pair(text) for text in found]
    results = at_desk(config, lambda desk: _all(desk, pairs, signed))
    done = list(zip(pairs, results, strict=True))
    if as_json:
        printing.document([_facts(*one) for one in done])
    else:
        for pair, result in done:
            printing.say(_told(pair, result))
    if any(isinstance(result, NotDone) for result in results):
        raise typer.Exit(1)


def _pair(text: str) -> tuple[str, str]:
    key, _, message_id = text.partition("=")
    if not is_key(key):
        raise StopError(f"{text}: does not begin with a key of 48 characters, and =", code=2)
    if not message_id or len(message_id) > _LONGEST or not _is_one_word(message_id):
        raise StopError(f"{text}: behind the key and = stands the mail's id, one word", code=2)
    return key, message_id


def _is_one_word(text: str) -> bool:
    return text.isprintable() and not any(letter.isspace() for letter in text)


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
    }


def _told(pair: tuple[str, str], result: SettleResult) -> str:
    key, message_id = pair
    if isinstance(result, NotDone):
        return f"{key}: refused: {result.why}"
    return f"{key}: was {result.row.status}, is sent: {result.provider} has it as {message_id}"
