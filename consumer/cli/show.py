"""`sendonce show`: all that is known under one key, told as a story."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Annotated, Final

import typer

from consumer.cli import letters, printing
from consumer.cli.addressed import list_keys
from consumer.cli.app import DEFAULT_CONFIG, ConfigOption, JsonOption, StopError, app
from consumer.cli.guarded import at_desk
from consumer.cli.masking import masked
from consumer.cli.telling import sentences
from consumer.guard import Story
from consumer.guard.desk import Desk
from consumer.keys import is_key
from consumer.model import News, Status

KeyArgument = Annotated[str, typer.Argument(metavar="KEY", help="48 hex characters.")]
ShownArgument = Annotated[
    str, typer.Argument(metavar="KEY", help="48 hex characters; or an address, for its keys.")
]
RevealOption = Annotated[
    bool, typer.Option("--reveal", metavar="", help="Show the recipient's address in full.")
]
_PLACE: Final = re.compile(r"([\w.-]+)/\d+@\d+", re.ASCII)  # a domain is no number
_NOT_A_KEY: Final = """\
{place} is a record, and neither a key nor an address: if a dead letter has it, \
`sendonce dead-letters list --topic {topic}` names its id, and `dead-letters show ID` its key"""
_MEANS = {
    Status.SENDING: "claimed: a request is, or was, under way",
    Status.WAITING: "the last attempt certainly did not send; another is due",
    Status.SENT: "a provider accepted it",
    Status.FAILED: "certainly not sent",
    Status.UNKNOWN: "a request went out and nobody knows its outcome",
    Status.EXPIRED: "became too old before it could be sent; certainly not sent",
    Status.DISCARDED: "a person gave it up",
}
_REPORTED = {
    News.DELIVERED: " and reported that it was delivered",
    News.BOUNCED: " and reported that it bounced",
    News.COMPLAINED: " and reported that the recipient complained",
}
NO_ROW = """\
the guard has no row of {key}: never claimed, or older than guard.retention
a record that was skipped leaves no row; its rule is in the log line `skipped` of this key, \
in the metric sendonce_skipped_total and, where there is one, in the outcome topic"""


@app.command()
def show(
    key: ShownArgument,
    reveal: RevealOption = False,
    config: ConfigOption = DEFAULT_CONFIG,
    as_json: JsonOption = False,
) -> None:
    """Tell the story of one key, to be read aloud; then the facts of its row and dead letters.

    `sendonce key FILE` prints the key of an event; every log line of an attempt names it. Of an
    address, the keys of its newest mails are listed, also when it is blanked by now.

    Examples:
      sendonce show 0f3c...
      sendonce show 0f3c... --json
      sendonce show ada@example.com
    """
    if (place := _PLACE.fullmatch(key)) is not None:
        raise StopError(_NOT_A_KEY.format(place=key, topic=place[1]), code=2)
    if "@" in key:
        list_keys(key, config, as_json=as_json)
        return
    asked = known_key(key)
    story, versions = at_desk(config, lambda desk: _known(desk, asked))
    if as_json:
        printing.document(_facts(story, versions, reveal=reveal))
    else:
        _tell(story, versions, reveal=reveal)


def known_key(text: str) -> str:
    if not is_key(text):
        raise StopError(
            "a key has 48 characters, 0-9 and a-f; `sendonce key FILE` prints it", code=2
        )
    return text


async def _known(desk: Desk, key: str) -> tuple[Story, tuple[str, ...]]:
    story = await desk.story(key)
    if story is None:
        raise StopError(NO_ROW.format(key=key))
    return story, await desk.family(key)


def _facts(story: Story, versions: tuple[str, ...], *, reveal: bool) -> dict[str, object]:
    row = asdict(story.row)
    at = row.pop("coordinates") or {}
    row["body_hash"] = story.row.body_hash.hex() if story.row.body_hash else None
    return {
        "idempotency_key": row.pop("key"),
        "event_type": row.pop("mail_type"),
        "recipient": _recipient(story, reveal=reveal),
        **row,
        "source": {name: at.get(name) for name in ("topic", "partition", "offset", "timestamp")},
        "claimed_at": story.claimed_at,
        "lease_until": story.lease_until,
        "attempt_deadline": story.attempt_deadline,
        "doubt_since": story.doubt_since,
        "doubt_provider": story.doubt_provider,
        "outcome_due": story.outcome_due,
        "settled_by": story.settled_by,
        "second_message_id": story.second_message_id,
        "delivery": story.delivery,
        "delivery_at": story.delivery_at,
        "versions": versions,
        "story": sentences(story, _recipient(story, reveal=reveal)),
        "history": [asdict(line) for line in story.history],
        "dead_letters": [letters.facts(letter) for letter in story.letters],
    }


def _tell(story: Story, versions: tuple[str, ...], *, reveal: bool) -> None:
    row, recipient = story.row, _recipient(story, reveal=reveal)
    printing.say(f"{row.mail_type}: {row.status} ({_means(story)})", "bold")
    printing.say()
    for sentence in sentences(story, recipient):
        printing.say(sentence)
    printing.say()
    printing.pairs(
        [
            ("key", row.key),
            ("recipient", recipient),
            ("record", row.coordinates and letters.place(row.coordinates)),
            ("claimed", story.claimed_at.isoformat()),
            ("first attempt", row.first_attempt_at and row.first_attempt_at.isoformat()),
            ("attempts", f"{row.attempts} in round {row.round}, through {row.provider}"),
            ("sent", row.sent_at and row.sent_at.isoformat()),
            ("provider's id", row.provider_message_id),
            ("second id", story.second_message_id),
            ("settled by", story.settled_by),
            ("lease until", story.lease_until and story.lease_until.isoformat()),
            ("in doubt since", story.doubt_since and story.doubt_since.isoformat()),
            ("in doubt at", story.doubt_provider),
            ("error", row.error),
            ("epoch", row.epoch),
            ("catalogue", row.catalogue),
        ]
    )
    for letter in story.letters:
        told = f"{letter.status}: {letter.reason}: {letter.detail}"
        printing.say(f"  dead letter {letter.id}, {told}")
    _tell_versions(versions, row.key)


def _means(story: Story) -> str:
    if story.row.status is not Status.SENT:
        return _MEANS[story.row.status]
    told = _REPORTED.get(story.delivery, "") if story.delivery else ""
    return f"{_MEANS[Status.SENT]}{told}"


def _tell_versions(versions: tuple[str, ...], key: str) -> None:
    for number, one in enumerate(versions, start=1) if len(versions) > 1 else ():
        printing.say(f"  version {number}  {one}{'  (this one)' if one == key else ''}")


def _recipient(story: Story, *, reveal: bool) -> str:
    if not story.recipient:
        return "(blanked)"
    return story.recipient if reveal else masked(story.recipient)
