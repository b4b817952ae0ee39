"""`sendonce send-test`: one example as a real mail, to somebody who wants to see it arrive.

It goes the way that a mail goes, from the example to the provider's answer, but for the guard: its
key is made for this once and has a form that no event's key has, so it can be nobody's duplicate
and settle nobody's row. Only examples are sent: a real event's mail belongs to its recipient alone.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Annotated, Final, assert_never

import typer

from consumer import parts, providers, settings
from consumer.catalogue import Catalogue
from consumer.cli import printing
from consumer.cli.app import DEFAULT_CONFIG, ConfigOption, JsonOption, StopError, app
from consumer.cli.events import readings, why_not
from consumer.keys import AddressError, canonical_recipient
from consumer.leave import Rehearsal
from consumer.model import (
    Accepted,
    Address,
    Answer,
    Bad,
    Blocked,
    Lease,
    Mail,
    Message,
    Refused,
    Rejected,
    SlowDown,
    TooLate,
    Transient,
    Unclear,
    elapsed,
)
from consumer.providers import Provider
from consumer.providers.fetching import Fetcher, Unfetched
from consumer.rules import Rules

MARK: Final = "[test]"
_AGE: Final = 3600.0  # seconds; a lease that no attempt outlives


@dataclass(frozen=True, slots=True)
class _Answered:
    message: Message
    provider: str
    answer: Answer
    took: float  # seconds


@app.command("send-test")
def send_test(
    example: Annotated[
        str, typer.Argument(metavar="EXAMPLE", help="Of the catalogue: order.receipt/plain.")
    ],
    to: Annotated[str, typer.Option("--to", metavar="ADDRESS", help="Who shall get it.")],
    provider: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Through this one.", show_default="the type's first"),
    ] = None,
    config: ConfigOption = DEFAULT_CONFIG,
    as_json: JsonOption = False,
) -> None:
    """Send an example through the real provider, marked as a test, and say what that said.

    The guard knows nothing of it, a pause does not hold it, and it is tried once. Outside
    production only recipients of `safety.allow` get it. Exit code 0: the provider accepted it.

    Example:
      sendonce send-test order.receipt/plain --to ada@example.org
    """
    found = settings.load(config)
    catalogue = parts.open_catalogue(found)
    mail = _mail(catalogue, example)
    message = _addressed(_message(catalogue, mail), mail, to, parts.rules(found))
    through = _provider(found, provider or mail.type.providers[0], message)
    answered = asyncio.run(_sent(through, message))
    _tell(answered, as_json=as_json)
    if not isinstance(answered.answer, Accepted):
        raise typer.Exit(1)


def _mail(catalogue: Catalogue, named: str) -> Mail:
    known = [f"{one.mail_type}/{one.name}" for one in catalogue.examples]
    fitting = [name for name in known if named == name or name.startswith(f"{named}/")]
    if len(fitting) != 1:
        why = "names several examples" if fitting else "is no example of the catalogue"
        raise StopError(f"{named} {why}; name one of {', '.join(fitting or known)}", 2)
    [reading] = readings(catalogue, fitting[0])
    if not isinstance(reading.mail, Mail):
        raise StopError(f"{reading.place}: {why_not(reading.mail)}")
    return reading.mail


def _message(catalogue: Catalogue, mail: Mail) -> Message:
    message = catalogue.render(mail)
    if isinstance(message, Bad):
        raise StopError(why_not(message))
    return message


def _addressed(message: Message, mail: Mail, to: str, rules: Rules) -> Message:
    """Mark the message, and address it: to whom the allow-list lets it go, and nobody else."""
    try:
        recipient = canonical_recipient(to)
    except AddressError as error:
        raise StopError(f"--to: {error}", 2) from None
    if held := rules.holds_back(replace(mail, recipient=recipient), replay=True):
        raise StopError(f"--to: {held}: outside production only who is in safety.allow gets mail")
    key = f"test-{secrets.token_hex(16)}"
    subject = f"{MARK} {message.subject}"
    marked = replace(
        message,
        key=key,
        message_id=f"<{key}@{message.sender.email.rpartition('@')[2]}>",
        subject=subject,
        model={**message.model, "subject": subject} if message.model else {},  # some print this one
        to=Address(recipient),
    )
    return rules.addressed(marked)


def _provider(found: settings.Settings, name: str, message: Message) -> Provider:
    options = found.providers.get(name)
    if options is None:
        raise StopError(
            f"there is no [providers.{name}]; known are {', '.join(found.providers)}", 2
        )
    if not message.html and name not in message.templates:
        raise StopError(
            f"{name} keeps no template of {message.mail_type}, and the folder has no bodies", 2
        )
    return providers.build(name, options)


async def _sent(provider: Provider, message: Message) -> _Answered:
    async with aclosing(Fetcher()) as fetcher:
        prepared = await Rehearsal(fetcher).of(provider, message)
    assert prepared is not None, "there is time"
    if isinstance(prepared, Unfetched):
        return _Answered(message, provider.name, Transient(prepared.error), 0.0)
    if isinstance(prepared, Rejected):
        return _Answered(message, provider.name, prepared, 0.0)
    lease = Lease(message.key, epoch=1, token="", ends_at=elapsed() + _AGE)
    await provider.open()
    began = time.perf_counter()
    try:
        answer = await provider.attempt(prepared, lease)
    finally:
        await provider.close()
    return _Answered(message, provider.name, answer, time.perf_counter() - began)


def _said(answer: Answer) -> str:
    match answer:
        case Accepted(name):
            return f"accepted as {name}"
        case Refused(error) | Rejected(error):
            return f"refused: {error}"
        case Blocked(error):
            return f"refused, as would be any mail now: {error}"
        case Transient(error) | SlowDown(error):
            return f"not sent: {error}"
        case Unclear(error):
            return f"nobody knows whether it was sent: {error}"
        case TooLate():
            return "not sent"
        case _:
            assert_never(answer)


def _tell(answered: _Answered, *, as_json: bool) -> None:
    answer, message = answered.answer, answered.message
    facts = {
        "accepted": isinstance(answer, Accepted),
        "provider": answered.provider,
        "answer": _said(answer),
        "provider_message_id": getattr(answer, "provider_message_id", None),
        "to": message.to.email,
        "subject": message.subject,
        "key": message.key,
        "ms": round(answered.took * 1000),
    }
    if as_json:
        printing.document(facts)
        return
    printing.say(f"{answered.provider}: {_said(answer)}", "green" if facts["accepted"] else "red")
    printing.pairs([(name, facts[name]) for name in ("to", "subject", "key", "ms")])
