"""`sendonce catalogue`: what upstream teams need to know, for people and for programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from consumer import contract, settings
from consumer.cli import printing
from consumer.cli.app import DEFAULT_CONFIG, ConfigOption, JsonOption, app
from consumer.cli.catalogues import CatalogueOption, is_configured, open_catalogue
from consumer.cli.folders import write
from consumer.contract import Kind
from consumer.contract.asyncapi import House
from consumer.pages.handbook import INDEX, handbook


@app.command("catalogue")
def show_catalogue(
    asyncapi: Annotated[
        bool, typer.Option("--asyncapi", metavar="", help="Print an AsyncAPI 3.0 document.")
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write a page for each mail, and an index."),
    ] = None,
    catalogue: CatalogueOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    as_json: JsonOption = False,
) -> None:
    """List the mails, or write down for upstream teams what to publish and what comes of it.

    Needs no broker, no database, and no configuration; with one, it also names the servers and
    the topic of the outcomes.

    Examples:
      sendonce catalogue
      sendonce catalogue --asyncapi > asyncapi.json
      sendonce catalogue --html out/handbook
    """
    kinds = contract.kinds(open_catalogue(config, catalogue))
    house = _house(config, catalogue)
    if html is not None:
        for name, text in handbook(kinds, house).items():
            write("--html", html, name, text.encode())
    if asyncapi:
        printing.document(contract.document(kinds, house))
    elif as_json:
        printing.document([_facts(kind) for kind in kinds])
    elif html is not None:
        printing.say(str(html / INDEX))
    else:
        _list(kinds)


def _house(config: Path, alone: Path | None) -> House:
    if alone is not None or not is_configured(config):
        return House()
    found = settings.load(config)
    encrypted = found.kafka.security_protocol.endswith("SSL")
    formats = {name: topic.format for name, topic in found.topics.items()}
    return House(found.kafka.bootstrap_servers, encrypted, found.outcomes.topic, formats)


def _facts(kind: Kind) -> dict[str, object]:
    return {
        "mail_type": kind.name,
        "summary": kind.summary,
        "topic": kind.topic,
        "event_type": kind.event,
        "entity_id": kind.entity,
        "recipient": kind.recipient,
        "max_age_seconds": kind.rules.type.max_age,
        "schema_versions": kind.versions,
        "examples": [sample.name for sample in kind.samples],
    }


def _list(kinds: list[Kind]) -> None:
    columns = ("mail_type", "topic", "event_type", "one mail for each", "may wait", "examples")
    rows = (
        (
            kind.name,
            kind.topic,
            kind.event,
            " + ".join([*kind.entity, kind.recipient]),
            kind.waits,
            ", ".join(sample.name for sample in kind.samples),
        )
        for kind in kinds
    )
    printing.table(columns, rows)
