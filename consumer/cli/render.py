"""`sendonce render`: an event as the mail that it becomes, in files that open with a click."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from consumer.catalogue import Catalogue
from consumer.cli import printing
from consumer.cli.app import DEFAULT_CONFIG, ConfigOption, JsonOption, StopError, app
from consumer.cli.asked import decoding
from consumer.cli.catalogues import CatalogueOption, open_catalogue
from consumer.cli.events import ReadEvent, readings, why_not
from consumer.cli.folders import write
from consumer.cli.key import HeaderOption, TopicOption
from consumer.cli.watch import PORT
from consumer.cli.watch import watch as show_changes
from consumer.model import Bad, Mail, Message
from consumer.providers import mime

WatchOption = Annotated[
    bool, typer.Option("--watch", metavar="", help="A page that reloads when a file changes.")
]
PortOption = Annotated[
    int, typer.Option(help="Of the page; 0: any free one.", metavar="PORT", min=0, max=65535)
]
OptionalEvents = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE",
        help="As for `key`; with --watch, by default all examples.",
        show_default=False,
    ),
]
OutOption = Annotated[Path, typer.Option(help="The folder for the files.", metavar="FOLDER")]


@app.command()
def render(
    file: OptionalEvents = None,
    out: OutOption = Path("out"),
    watch: WatchOption = False,
    port: PortOption = PORT,
    topic: TopicOption = None,
    header: HeaderOption = None,
    catalogue: CatalogueOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    as_json: JsonOption = False,
) -> None:
    """Write each event's mail as .eml and .html, and show its text part.

    Nothing is sent, nothing is claimed. With --watch nothing is written either: a page on this
    machine shows the mails, narrow and wide, light and dark, and what is wrong with them.

    Examples:
      sendonce render order.receipt
      sendonce render event.json --out /tmp/mails
      sendonce render --watch
    """
    look = partial(readings, topic=topic, headers=header, read=decoding(config, catalogue))
    if watch:
        show_changes(file, port, config, catalogue, look)
        return
    if file is None:
        raise StopError("name an event or an example, or --watch all of them", 2)
    opened = open_catalogue(config, catalogue)
    results = [_rendered(opened, reading) for reading in look(opened, file)]
    facts = [_facts(reading, result, out) for reading, result in results]
    if as_json:
        printing.document(facts)
    else:
        for fact in facts:
            _print(fact)
    if any("problem" in fact for fact in facts):
        raise typer.Exit(1)


def _rendered(catalogue: Catalogue, reading: ReadEvent) -> tuple[ReadEvent, Message | str]:
    if not isinstance(reading.mail, Mail):
        return reading, why_not(reading.mail)
    message = catalogue.render(reading.mail)
    return reading, why_not(message) if isinstance(message, Bad) else message


def _facts(reading: ReadEvent, result: Message | str, out: Path) -> dict[str, str]:
    if isinstance(result, str):
        return {"place": reading.place, "problem": result}
    name = f"{result.mail_type}-{result.key[:12]}"
    return {
        "place": reading.place,
        "event_type": result.mail_type,
        "idempotency_key": result.key,
        "subject": result.subject,
        "text": result.text,
        "eml": str(write("--out", out, f"{name}.eml", mime.render(result))),
        "html": str(write("--out", out, f"{name}.html", result.html.encode())),
    }


def _print(fact: dict[str, str]) -> None:
    if "problem" in fact:
        printing.say(f"{fact['place']}: {fact['problem']}", "red")
        return
    printing.say(f"{fact['place']}: {fact['event_type']}", "bold")
    printing.pairs([(name, fact[name]) for name in ("subject", "idempotency_key", "eml", "html")])
    printing.say()
    for line in fact["text"].splitlines():
        printing.say(f"  {line}".rstrip())
    printing.say()
