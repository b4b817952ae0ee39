"""`sendonce pause` and `sendonce resume`: a person stops sending, in every worker, for a while.

Nothing is lost meanwhile: offsets stay where they are, and what waits is sent afterwards, unless it
has become older than its type's `max_age`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated

import typer

from consumer import parts, settings
from consumer.cli import printing
from consumer.cli.app import DEFAULT_CONFIG, ConfigOption, JsonOption, StopError, app
from consumer.cli.guarded import at_desk
from consumer.cli.parked import second
from consumer.cli.signed import ByOption, WhyOption, signed
from consumer.guard.desk import Desk
from consumer.guard.pauses import PauseTable, Scope, Target
from consumer.pauses import Effect, Pauses, effect, facts, unknown

_ALREADY = """\
{one.target} is already paused, by {one.by} since {since}, because: {one.why}; that stands"""

AllOption = Annotated[bool, typer.Option("--all", metavar="", help="Everything.")]
TypeOption = Annotated[
    str | None, typer.Option("--type", metavar="NAME", help="A mail type.", show_default=False)
]
ProviderOption = Annotated[
    str | None,
    typer.Option("--provider", metavar="NAME", help="A provider's section.", show_default=False),
]


@app.command()
def pause(
    everything: AllOption = False,
    mail_type: TypeOption = None,
    provider: ProviderOption = None,
    by: ByOption = None,
    why: WhyOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    as_json: JsonOption = False,
) -> None:
    """Stop sending in every worker, within seconds; without an option, tell what is stopped.

    Requests under way end as ever. Offsets stay; what is too old by the time it goes on is skipped.
    A type with another provider goes on through that one while its first is paused.

    Examples:
      sendonce pause
      sendonce pause --type order.receipt --by ada --why "wrong prices"
      sendonce pause --all --by ada --why "looking at a double"
    """
    targets = _targets(everything, mail_type, provider)
    if not targets:
        _do(config, as_json, _nothing)
        return
    who, reason = signed(by, why, "pause")
    pauses = _pauses(config)
    for target in targets:
        if problem := unknown(target, pauses):
            raise StopError(problem, code=2)

    async def put(table: PauseTable) -> None:
        for target in targets:
            await table.put(target, who, reason)
        for one in await table.read():
            if one.target in targets and (one.by, one.why) != (who, reason):
                printing.remark(_ALREADY.format(one=one, since=second(one.since)))

    _do(config, as_json, put)


@app.command()
def resume(
    everything: AllOption = False,
    mail_type: TypeOption = None,
    provider: ProviderOption = None,
    config: ConfigOption = DEFAULT_CONFIG,
    as_json: JsonOption = False,
) -> None:
    """Let what was stopped go on; tell what still stands.

    `--all` ends the pause of everything; a type or provider that was paused by itself stays so.

    Examples:
      sendonce resume --type order.receipt
      sendonce resume --all
    """
    targets = _targets(everything, mail_type, provider)
    if not targets:
        raise StopError("resume what? --all, --type NAME or --provider NAME", code=2)

    async def lift(table: PauseTable) -> None:
        for target in targets:
            if await table.lift(target) is None:
                raise StopError(f"{target} is not paused")

    _do(config, as_json, lift)


def _targets(everything: bool, mail_type: str | None, provider: str | None) -> list[Target]:
    named = ((Scope.TYPE, mail_type), (Scope.PROVIDER, provider))
    all_of_it = [Target(Scope.ALL)] if everything else []
    return all_of_it + [Target(scope, name) for scope, name in named if name is not None]


async def _nothing(_table: PauseTable) -> None:
    return


def _do(config: Path, as_json: bool, act: Callable[[PauseTable], Awaitable[None]]) -> None:
    """Act, then tell what is paused and what stops with it."""
    pauses = _pauses(config)

    async def acted(desk: Desk) -> dict[str, int]:
        await act(desk.pauses)
        pauses.take(await desk.pauses.read())
        return await desk.pauses.parked()

    parked = at_desk(config, acted)
    if as_json:
        printing.document(facts(pauses, parked))
    else:
        _print(pauses, effect(pauses, parked))


def _pauses(config: Path) -> Pauses:
    return Pauses(tuple(parts.open_catalogue(settings.load(config)).types.values()))


def _print(pauses: Pauses, stops: Effect) -> None:
    if not pauses.any:
        printing.say("Nothing is paused.")
        return
    for one in pauses.standing.values():
        printing.say(f"paused: {one.target}, by {one.by} since {second(one.since)}: {one.why}")
    printing.say(f"stops: {', '.join(stops.stopped) or 'no mail type'}")
    if stops.behind:
        printing.say(f"gets stuck behind it, on the same topic: {', '.join(stops.behind)}")
    for name, through in stops.elsewhere.items():
        printing.say(f"goes on through {through}: {name}")
    if stops.parked:
        printing.say(f"parked mails that wait with it: {stops.parked}")
