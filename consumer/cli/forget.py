"""`sendonce forget`: one person's address leaves the database; the keys stay."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from consumer import parts, settings
from consumer.cli import printing
from consumer.cli.app import DEFAULT_CONFIG, ConfigOption, JsonOption, StopError, app
from consumer.cli.guarded import at_desk
from consumer.cli.masking import masked
from consumer.cli.signed import ByOption, WhyOption, note
from consumer.guard.forgetting import Forgotten
from consumer.guard.mentions import Mentions, mentions_of
from consumer.keys import AddressError
from consumer.model import Mail, Record

AddressArgument = Annotated[str, typer.Argument(metavar="ADDRESS", help="Whom to forget.")]
_KEPT = """\
The keys stay, so no replay mails anybody twice. Notes keep all but the address: a name that \
somebody wrote into one is not found. Kafka's topics are not ours: what was published stays there \
until their retention, or until upstream deletes it."""


@app.command()
def forget(
    address: AddressArgument,
    by: ByOption = None,
    why: WhyOption = None,
    yes: Annotated[bool, typer.Option("--yes", metavar="", help="Do not ask.")] = False,
    config: ConfigOption = DEFAULT_CONFIG,
    as_json: JsonOption = False,
) -> None:
    """Erase an address from rows, dead letters, histories and notes. It cannot be taken back.

    What was sent stays sent, without a name. What was still open, or had failed, is discarded, and
    upstream is told. Dead letters that mention the address lose their record. Notes and errors lose
    the address, and keep their other words. All rows and letters are read; running it again does no
    harm, and finds what was in flight the first time.

    Examples:
      sendonce forget ada@example.com --by grace --why "request 17"
      sendonce forget ada@example.com --by grace --why "request 17" --yes --json
    """
    signed, who = note(by, why, "forget"), known_address(address)
    found = settings.load(config)
    making = parts.reading(lambda: found, parts.open_catalogue(found)).making
    if not yes:
        _confirm(who)

    def reads(record: Record) -> Mail | None:
        mail = making.read(record)
        return mail if isinstance(mail, Mail) else None

    done = at_desk(config, lambda desk: desk.forget(who, signed, reads), None)
    if as_json:
        printing.document(_facts(done))
    else:
        _tell(done)
    if done.in_flight or done.locked:
        raise typer.Exit(1)


def known_address(text: str) -> Mentions:
    try:
        return mentions_of(text)
    except AddressError as error:
        raise StopError(f"the address {error}", code=2) from None


def _confirm(who: Mentions) -> None:
    if not sys.stdin.isatty():
        raise StopError("nobody can be asked here: say --yes", code=2)
    if not typer.confirm(f"Erase {masked(who.forms[0])} for ever?"):
        raise StopError("nothing was done")


def _facts(done: Forgotten) -> dict[str, object]:
    return {
        "rows": done.rows,
        "given_up": done.closed,
        "dead_letters": done.letters,
        "texts": done.texts,
        "in_flight": sorted(done.in_flight),
        "locked": [{"id": one, "why": why} for one, why in sorted(done.locked.items())],
    }


def _tell(done: Forgotten) -> None:
    printing.pairs(
        [
            ("rows", f"{done.rows}, of which {done.closed} might still have been sent: given up"),
            ("dead letters", f"{done.letters} emptied"),
            ("texts", f"{done.texts}: the address was cut out"),
        ]
    )
    for key in sorted(done.in_flight):
        printing.say(f"in flight, left alone: {key}; run it again when its outcome stands", "red")
    for letter_id, why in sorted(done.locked.items()):
        printing.say(f"dead letter {letter_id} was not searched: {why}", "red")
    printing.say(_KEPT, "dim")
