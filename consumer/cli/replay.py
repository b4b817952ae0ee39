"""`sendonce replay`: dead letters go through the line again. Foretold first, done with `--go`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import typer

from consumer import settings
from consumer.cli import letters, printing
from consumer.cli import parked as at_it
from consumer.cli.app import DEFAULT_CONFIG, ConfigOption, JsonOption, StopError, app
from consumer.cli.foretold import foresight, foretold
from consumer.cli.guarded import EACH, PATIENCE, at_desk
from consumer.cli.moments import moment
from consumer.cli.signed import ByOption, WhyOption, note
from consumer.forecast import Forecast, Foresight, What
from consumer.guard import LetterStatus
from consumer.guard.desk import Desk
from consumer.guard.operators import Selection, Turn
from consumer.model import Reason

BY_ID: Final = (LetterStatus.OPEN, LetterStatus.PARKED)  # what is taken when its id is named
_COLUMNS = ("id", "reason", "record", "key", "would be", "detail")
_BEHIND: Final = 5.0  # seconds between letters of one key, so that they go in their order
_MEANS = {
    What.SEND: "would be sent",
    What.EVIDENCE: "unknown: only evidence is looked for",
    What.DUPLICATE: "duplicates of a sent mail: their letters are closed",
    What.STILL_BAD: "would fail again",
    What.REFUSED: "would be refused again",
    What.CLOSED: "closed: nothing is sent, their letters are closed",
    What.SKIPPED: "skipped by a rule: their letters are closed",
    What.WAITS: "wait: for a mail that is under way, or the schema registry",
}


_CATALOGUE = """\
foretold with the catalogue on disk; running workers have the one they started with: if you \
changed it, restart them first"""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a selection holds: `matched` letters in all, and the forecasts of those in the cap."""

    matched: int
    parked: at_it.Parked  # beside them
    forecasts: list[Forecast]
    due: set[int]  # of those, what was made due

    @property
    def changed(self) -> list[int]:
        return [
            one.letter.id for one in _with_record(self.forecasts) if one.letter.id not in self.due
        ]


IdsArgument = Annotated[
    list[int] | None,
    typer.Argument(metavar="ID", min=1, max=2**63 - 1, help="Only these dead letters."),
]
ReasonOption = Annotated[list[Reason] | None, typer.Option(help="Only these; repeatable.")]
TypeOption = Annotated[
    str | None, typer.Option("--type", metavar="TYPE", help="Only of this mail type.")
]
TopicOption = Annotated[str | None, typer.Option(help="Only of this topic.")]
StatusOption = Annotated[
    list[LetterStatus] | None,
    typer.Option(
        help="Only these; repeatable. Default: open; of IDs, parked as well.", show_default=False
    ),
]
SinceOption = Annotated[
    str | None, typer.Option(metavar="TIME", help="First failed at or after it; 2h: hours ago.")
]
UntilOption = Annotated[
    str | None, typer.Option(metavar="TIME", help="First failed before it; likewise.")
]
TextOption = Annotated[str | None, typer.Option(help="With this text in the detail.")]
GoOption = Annotated[bool, typer.Option("--go", metavar="", help="Do it, not only foretell.")]
LimitOption = Annotated[int, typer.Option(min=1, max=100_000, help="At most so many letters.")]
RateOption = Annotated[float, typer.Option(min=0.01, max=10_000, help="Letters a second.")]


@app.command()
def replay(
    ids: IdsArgument = None,
    reason: ReasonOption = None,
    mail_type: TypeOption = None,
    topic: TopicOption = None,
    status: StatusOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    text: TextOption = None,
    go: GoOption = False,
    limit: LimitOption = 300,
    rate: RateOption = 20.0,
    by: ByOption = None,
    why: WhyOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    as_json: JsonOption = False,
) -> None:
    """Say what would become of dead letters now; with --go, have the service do it.

    The same record, the same key, through the same guard: what was sent is not sent again. Of
    an unknown outcome, evidence is looked for. max_age holds none back; the allow-list does. The
    workers do it, so one has to be running.

    Examples:
      sendonce replay --reason invalid --type order.receipt
      sendonce replay --reason invalid --since 2h --go --by ada --why "schema fixed"
      sendonce replay 41 42 --json
    """
    signed = note(by, why, "replay --go") if go else None
    chosen = Selection(
        ids or None, _statuses(status, ids), reason, mail_type, topic,
        moment(since, "--since"), moment(until, "--until"), text,
    )  # fmt: skip
    found = settings.load(config)
    eyes, patience = foresight(found), PATIENCE + EACH * limit
    seen = at_desk(config, lambda d: _seen(d, eyes, chosen, limit, rate, signed), patience)
    if as_json:
        printing.document(_facts(seen, signed))
    else:
        _tell(seen, signed)
    if signed is not None and seen.changed:
        raise StopError(_changed(seen))


def _statuses(
    asked: Sequence[LetterStatus] | None, ids: Sequence[int] | None
) -> Sequence[LetterStatus]:
    """What is named may be parked: a person can hurry it. Else the service is at it."""
    if LetterStatus.SETTLED in (asked or ()):
        raise StopError(
            "a settled letter's mail is settled: only `resend KEY` makes another", code=2
        )
    return asked or (BY_ID if ids else (LetterStatus.OPEN,))


async def _seen(
    desk: Desk, eyes: Foresight, chosen: Selection, limit: int, rate: float, signed: str | None
) -> Seen:
    await _refuse_unheard_of(desk, chosen.ids or ())
    matched, parked = await desk.count(chosen), await at_it.parked(desk, chosen)
    if signed is not None and matched > limit:
        raise StopError(
            f"{matched} letters match and the limit is {limit}: narrow the selection, or say"
            f" --limit {matched}; nothing was done"
        )
    forecasts = await foretold(desk, eyes, await desk.ids(chosen, limit))
    if signed is None or not forecasts:
        return Seen(matched, parked, forecasts, set())
    due = await desk.make_due(_turns(forecasts, rate), signed)
    return Seen(matched, parked, forecasts, due)


async def _refuse_unheard_of(desk: Desk, ids: Collection[int]) -> None:
    every = Selection(ids, tuple(LetterStatus))
    unheard = set(ids) - set(await desk.ids(every, len(ids))) if ids else ()
    if unheard:
        some = ", ".join(map(str, sorted(unheard)[:10]))
        raise StopError(f"there is no dead letter {some}; nothing was done")


def _turns(forecasts: Sequence[Forecast], rate: float) -> list[Turn]:
    """Spread them out; letters of one key one behind the other, as was foretold."""
    before: Counter[str] = Counter()
    turns = []
    for n, one in enumerate(_with_record(forecasts)):
        behind = before[one.key] * _BEHIND if one.key else 0.0
        turns.append(Turn(one.letter, n / rate + behind))
        if one.key:
            before[one.key] += 1
    return turns


def _with_record(forecasts: Sequence[Forecast]) -> list[Forecast]:
    """Leave out letters that nothing can be made of: they are told, and stay as they are."""
    return [one for one in forecasts if letters.gone(one.letter) is None]


def _facts(seen: Seen, signed: str | None) -> dict[str, object]:
    return {
        "matched": seen.matched,
        "parked": seen.parked.number,
        "next_look": seen.parked.next_look,
        "go": signed is not None,
        "note": signed,
        "summary": _summary(seen),
        "forecast": [_fact(one) for one in seen.forecasts],
        "due": sorted(seen.due),
    }


def _fact(one: Forecast) -> dict[str, object]:
    return {
        "id": one.letter.id,
        "what": one.what,
        "detail": one.detail,
        "idempotency_key": one.key,
        "letter": letters.facts(one.letter),
    }


def _summary(seen: Seen) -> dict[What, int]:
    found = Counter(one.what for one in seen.forecasts)
    return {what: found[what] for what in What if found[what]}


def _tell(seen: Seen, signed: str | None) -> None:
    printing.table(_COLUMNS, map(_row, seen.forecasts))
    printing.say()
    printing.table(("letters", "would be", ""), _totals(seen))
    if len(seen.forecasts) < seen.matched:
        told = len(seen.forecasts)
        printing.say(f"{seen.matched} match; the first {told} are foretold: see --limit")
    if seen.parked.number:
        printing.say(at_it.told(seen.parked))
    if seen.forecasts:
        printing.say(_CATALOGUE)
    if signed is not None:
        printing.say(f"{len(seen.due)} letters are due now: the workers take them", "bold")
    elif seen.forecasts:
        printing.say("Nothing was done. To do it: --go --by NAME --why TEXT", "bold")
    elif not seen.parked.number:
        printing.say("no dead letter matches; of closed ones, see --status")


def _totals(seen: Seen) -> list[tuple[object, ...]]:
    return [(number, what, _MEANS[what]) for what, number in _summary(seen).items()]


def _row(one: Forecast) -> tuple[object, ...]:
    at = letters.place(one.letter.coordinates)
    return one.letter.id, one.letter.reason, at, one.key, one.what, one.detail


def _changed(seen: Seen) -> str:
    some = ", ".join(map(str, seen.changed[:10]))
    return f"{len(seen.changed)} letters changed meanwhile and were left alone: {some}; look again"
