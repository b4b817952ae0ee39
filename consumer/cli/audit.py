"""`sendonce audit`: the promise, held against the log: every record that is done has its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Annotated, Final, TypeAlias

import typer

from consumer import parts, settings
from consumer.auditing import Audit, End, Finding
from consumer.catalogue import Catalogue
from consumer.cli import printing
from consumer.cli.app import DEFAULT_CONFIG, ConfigOption, JsonOption, StopError, app
from consumer.cli.guarded import at_desk, patiently
from consumer.cli.moments import moment
from consumer.cli.parked import second
from consumer.guard.desk import Desk
from consumer.guard.traces import Double
from consumer.intake.kafka import Past, Stretch
from consumer.model import MailType, OnUnknown, Record

Judge: TypeAlias = Callable[[Sequence[Record]], Awaitable[list[Finding]]]

_SINCE: Final = "24h"
_AHEAD: Final = timedelta(hours=1)  # by which Kafka takes records of the future, unless it is told
_IN_SHADOW: Final = "a service in shadow mode claims nothing: see `sendonce shadow-report`"
_PATIENCE: Final = 120.0  # seconds for a page: a registry may be asked, and all rows be read
_NAMED: Final = (End.LOST, End.UNTRACED)


@dataclass(slots=True)
class Report:
    """`named`: the first of those that are told one by one."""

    since: datetime
    limit: int
    stretches: Sequence[Stretch] = ()
    ends: Counter[tuple[End, str]] = field(default_factory=Counter)
    named: dict[End, list[Finding]] = field(default_factory=lambda: {end: [] for end in _NAMED})
    twice: list[Double] = field(default_factory=list)
    allowed: int = 0  # second acceptances that the type's own policy allowed

    def add(self, found: Sequence[Finding]) -> None:
        for one in found:
            self.ends[one.end, one.detail] += 1
            some = self.named.get(one.end)
            if some is not None and len(some) < self.limit:
                some.append(one)

    def count(self, end: End) -> int:
        return sum(number for (which, _), number in self.ends.items() if which is end)

    def judge(self, doubles: Sequence[Double], types: Mapping[str, MailType]) -> None:
        """Tell the second mails that a type's policy allowed, after a doubt, from all others."""
        resent = {name for name, one in types.items() if one.on_unknown is OnUnknown.RESEND}
        self.twice = [one for one in doubles if not (one.doubted and one.mail_type in resent)]
        self.allowed = len(doubles) - len(self.twice)

    @property
    def kept(self) -> bool:
        """Where records were handled and none of them left a trace, nothing is kept."""
        return not self.twice and not self.count(End.LOST) and not self.blind

    @property
    def blind(self) -> bool:
        told = sum(self.ends.values()) - self.count(End.UNTRACED) - self.count(End.SKIPPED)
        return bool(self.count(End.UNTRACED)) and not told


@app.command()
def audit(
    topic: Annotated[
        list[str] | None,
        typer.Option(help="Only this one; repeatable.", show_default="those of the catalogue"),
    ] = None,
    since: Annotated[
        str, typer.Option(metavar="TIME", help="Records from then on; 2h: hours ago.")
    ] = _SINCE,
    limit: Annotated[
        int, typer.Option(min=0, help="Records of each kind that are named; all are counted.")
    ] = 20,
    config: ConfigOption = DEFAULT_CONFIG,
    as_json: JsonOption = False,
) -> None:
    """Say what became of each record that is done: nothing lost, nothing twice, held to account.

    Reads the topics once more, up to the group's committed offsets, and looks for each record's
    row, letter or rule. Exit code 1 where one has none and should, where a mail was accepted twice
    that its type's policy had not allowed, or where nothing can be told of any. Writes nothing.

    Examples:
      sendonce audit
      sendonce audit --since 7d --topic orders --json
    """
    found = settings.load(config)
    if found.safety.mode == "shadow":
        raise StopError(_IN_SHADOW)
    reading = parts.reading(lambda: found, parts.open_catalogue(found))
    types, topics = _chosen(reading.making.catalogue, topic)
    report = Report(_begin(since, found.guard.retention), limit)
    auditor = Audit(reading, types.keys())

    async def look(desk: Desk) -> None:
        past = Past(parts.cluster(lambda: found.kafka), found.kafka.group_id)
        async with aclosing(past), aclosing(reading):
            report.stretches = await past.stretches(topics, report.since)
            await _look(report, past, lambda some: auditor.of(desk, some), shown=not as_json)
        report.judge(await patiently(desk.doubles(report.since, types), _PATIENCE), types)

    at_desk(config, look, patience=None)
    if as_json:
        printing.document(_facts(report))
    else:
        _tell(report)
    if not report.kept:
        raise typer.Exit(1)


def _chosen(
    catalogue: Catalogue, topics: Sequence[str] | None
) -> tuple[Mapping[str, MailType], Collection[str]]:
    types = catalogue.types
    if not topics:
        return types, catalogue.topics
    return {name: one for name, one in types.items() if one.topic in topics}, topics


def _begin(since: str, retention: float) -> datetime:
    """Rows are forgotten after `guard.retention`: of what is older nothing can be said."""
    remembered = datetime.now(UTC) - timedelta(seconds=retention) + _AHEAD
    return max(moment(since, "--since") or remembered, remembered)


async def _look(report: Report, past: Past, judge: Judge, *, shown: bool) -> None:
    offsets = sum(map(len, report.stretches))
    with printing.progress("records", offsets, shown=shown) as advance:
        for stretch in report.stretches:
            async with aclosing(past.pages(stretch)) as pages:
                async for records in pages:
                    report.add(await patiently(judge(records), _PATIENCE))
                    advance(len(records))


# ── What is told


def _facts(report: Report) -> dict[str, object]:
    return {
        "kept": report.kept,
        "since": report.since,
        "records": report.ends.total(),
        "ahead": sum(stretch.ahead for stretch in report.stretches),
        "ends": [
            {"end": end, "detail": detail, "records": number}
            for (end, detail), number in _in_order(report.ends)
        ],
        "lost": [_fact(one) for one in report.named[End.LOST]],
        "untraced": [_fact(one) for one in report.named[End.UNTRACED]],
        "accepted_twice": [
            {"idempotency_key": one.key, "mail_type": one.mail_type} for one in report.twice
        ],
        "accepted_twice_allowed": report.allowed,
        "partitions": [
            {"topic": one.partition.topic, "partition": one.partition.number, "from": one.first,
             "to": one.end, "ahead": one.ahead, "begun": one.begun}
            for one in report.stretches
        ],
    }  # fmt: skip


def _in_order(ends: Counter[tuple[End, str]]) -> list[tuple[tuple[End, str], int]]:
    order = list(End)
    return sorted(ends.items(), key=lambda item: (order.index(item[0][0]), item[0][1]))


def _fact(one: Finding) -> dict[str, object]:
    return {**asdict(one.at), "mail_type": one.mail_type, "idempotency_key": one.key,
            "detail": one.detail}  # fmt: skip


def _tell(report: Report) -> None:
    rows = [(number, end, detail) for (end, detail), number in _in_order(report.ends)]
    printing.table(("records", "became", ""), rows)
    printing.say()
    for end, some in report.named.items():
        for one in some:
            printing.say(f"{end}: {_named(one)}", "red" if end is End.LOST else "")
        if (more := report.count(end) - len(some)) > 0:
            printing.say(f"{end}: and {more} more; see --limit", "dim")
    for double in report.twice:
        printing.say(f"accepted twice: sendonce show {double.key}", "red")
    printing.say(_covered(report), "dim")
    printing.say(_verdict(report), "bold" if report.kept else "bold red")


def _named(one: Finding) -> str:
    at = one.at
    what = " ".join(filter(None, (one.mail_type, one.key)))
    return f"{at.topic}/{at.partition}@{at.offset} {what}: {one.detail}"


def _covered(report: Report) -> str:
    topics = ", ".join(sorted({one.partition.topic for one in report.stretches}))
    ahead = sum(one.ahead for one in report.stretches)
    never = sum(not one.begun for one in report.stretches)
    unread = f"; of {never} partitions it has committed nothing" if never else ""
    return (
        f"{report.ends.total()} records of {topics} since {second(report.since)}, up to what the"
        f" group has committed; {ahead} offsets lie ahead{unread}"
    )


def _verdict(report: Report) -> str:
    lost, twice, untraced = report.count(End.LOST), len(report.twice), report.count(End.UNTRACED)
    dark = f"; of {untraced} nothing can be told" if untraced else ""
    if not report.kept:
        return f"{lost} lost, {twice} accepted twice{dark}"
    allowed = f"; {report.allowed} second mails, as their types allow" if report.allowed else ""
    return f"nothing lost, nothing twice{allowed}{dark}"
