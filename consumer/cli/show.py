"""`sendonce show`: all that is known under one key."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from consumer.cli import letters, printing
from consumer.cli.app import DEFAULT_CONFIG, ConfigOption, JsonOption, Stop, app
from consumer.cli.guarded import ask
from consumer.guard import Story
from consumer.keys import is_key
from consumer.model import Status

_MEANS = {
    Status.SENDING: "claimed: a request is, or was, under way",
    Status.WAITING: "the last attempt certainly did not send; another is due",
    Status.SENT: "a provider accepted it",
    Status.FAILED: "certainly not sent",
    Status.UNKNOWN: "a request went out and nobody knows its outcome",
    Status.EXPIRED: "became too old before it could be sent; certainly not sent",
    Status.DISCARDED: "a person gave it up",
}
_NO_ROW = """\
the guard has no row of {key}: never claimed, or older than guard.retention
a record that was skipped leaves no row; its rule is in the log line `skipped` of this key, \
in the metric sendonce_skipped_total and, where there is one, in the outcome topic"""


@app.command()
def show(
    key: Annotated[str, typer.Argument(metavar="KEY", help="48 hex characters.")],
    reveal: Annotated[
        bool, typer.Option("--reveal", metavar="", help="Show the recipient's address in full.")
    ] = False,
    config: ConfigOption = DEFAULT_CONFIG,
    as_json: JsonOption = False,
) -> None:
    """Tell the story of one key: its row in the guard, and its dead letters.

    `sendonce key FILE` prints the key of an event; every log line of an attempt names it.

    \b
    Examples:
      sendonce show 0f3c...
      sendonce show 0f3c... --json
    """  # noqa: D301 - click's mark: keep these lines
    if not is_key(key):
        raise Stop("a key has 48 characters, 0-9 and a-f; `sendonce key FILE` prints it", code=2)
    story = ask(config, lambda guard: guard.show(key))
    if story is None:
        raise Stop(_NO_ROW.format(key=key))
    if as_json:
        printing.document(_facts(story, reveal=reveal))
    else:
        _tell(story, reveal=reveal)


def _facts(story: Story, *, reveal: bool) -> dict[str, object]:
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
        "dead_letters": [letters.facts(letter) for letter in story.letters],
    }


def _tell(story: Story, *, reveal: bool) -> None:
    row = story.row
    printing.say(f"{row.mail_type}: {row.status} ({_MEANS[row.status]})", "bold")
    printing.pairs(
        [
            ("key", row.key),
            ("recipient", _recipient(story, reveal=reveal)),
            ("record", row.coordinates and letters.place(row.coordinates)),
            ("claimed", story.claimed_at.isoformat()),
            ("first attempt", row.first_attempt_at and row.first_attempt_at.isoformat()),
            ("attempts", f"{row.attempts} in round {row.round}, through {row.provider}"),
            ("sent", row.sent_at and row.sent_at.isoformat()),
            ("provider's id", row.provider_message_id),
            ("lease until", story.lease_until and story.lease_until.isoformat()),
            ("in doubt since", story.doubt_since and story.doubt_since.isoformat()),
            ("in doubt at", story.doubt_provider),
            ("error", row.error),
            ("takeovers", row.epoch - 1 or None),
            ("catalogue", row.catalogue),
        ]
    )
    for letter in story.letters:
        told = f"{letter.status}: {letter.reason}: {letter.detail}"
        printing.say(f"  dead letter {letter.id}, {told}")


def _recipient(story: Story, *, reveal: bool) -> str:
    """Mask the address: what a command printed is soon in a ticket."""
    if reveal:
        return story.recipient
    local, _, domain = story.recipient.rpartition("@")
    return f"{local[:1]}***@{domain}"
