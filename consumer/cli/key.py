"""`sendonce key`: the idempotency key of an event, and what it is made of."""

from __future__ import annotations

from typing import Annotated

import typer

from consumer.cli import printing
from consumer.cli.app import DEFAULT_CONFIG, ConfigOption, JsonOption, app
from consumer.cli.asked import decoding
from consumer.cli.catalogues import CatalogueOption, open_catalogue
from consumer.cli.events import ReadEvent, readings, why_not
from consumer.model import Mail

TopicOption = Annotated[
    str | None,
    typer.Option(help="Read the events as records of this topic.", show_default="the type's own"),
]
HeaderOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="A header of the record; repeatable."),
]
EventsArgument = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Events: one JSON object, an array, or one a line; or an example: order.receipt/plain",
    ),
]


@app.command()
def key(
    file: EventsArgument,
    topic: TopicOption = None,
    header: HeaderOption = None,
    catalogue: CatalogueOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    as_json: JsonOption = False,
) -> None:
    """Print the key of each event, and the material it is the hash of.

    The same event must give the same key on every attempt, today and after a deploy: compare two
    files, or a file with the key in a log line. The material holds the recipient's address.

    Examples:
      sendonce key event.json
      sendonce key order.receipt
    """
    opened, read = open_catalogue(config, catalogue), decoding(config, catalogue)
    found = readings(opened, file, topic=topic, headers=header, read=read)
    if as_json:
        printing.document([_facts(reading) for reading in found])
    else:
        for reading in found:
            _print(reading)
    if not all(isinstance(reading.mail, Mail) for reading in found):
        raise typer.Exit(1)


def _facts(reading: ReadEvent) -> dict[str, object]:
    mail = reading.mail
    if not isinstance(mail, Mail):
        return {"place": reading.place, "problem": why_not(mail)}
    return {
        "place": reading.place,
        "event_type": mail.type.name,
        "idempotency_key": mail.key,
        "material": reading.material,
        "fingerprint": mail.fingerprint,
    }


def _print(reading: ReadEvent) -> None:
    mail = reading.mail
    if not isinstance(mail, Mail):
        printing.say(f"{reading.place}: {why_not(mail)}", "red")
        return
    printing.say(f"{reading.place}: {mail.type.name}")
    made_of = reading.material or "carried by the record"
    printing.pairs([("key", mail.key), ("made of", made_of), ("fingerprint", mail.fingerprint)])
