"""A chaos as a table that a person reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.chaos.storm import Report


def printed(report: Report) -> Iterator[str]:
    tally, plan = report.tally, report.plan
    yield f"{plan.events:,} events, {plan.minutes:g} minutes of storm, seed {plan.seed}"
    yield ""
    yield from _table("Done to it", report.done)
    yield from _table(
        "What came of it",
        {
            "records in the topics": tally.records,
            "mails (keys)": tally.mails,
            "accepted by the ledgers": tally.accepted,
            **{f"rows {name}": count for name, count in sorted(tally.statuses.items())},
            **{f"letters {name}": count for name, count in sorted(tally.letters.items())},
        },
    )
    yield "  Outcomes that nobody knew"
    for name, evidence in tally.evidence.items():
        by = ", ".join(f"{what} {count}" for what, count in sorted(evidence.by.items()))
        yield f"    {name:<12} {evidence.unknown:>7,}  {by}; shown to a person {evidence.shown}"
    yield ""
    yield from _table("Against the law", {name: len(w) for name, w in tally.lost.items()} or {})
    yield f"    lost                                     {sum(map(len, tally.lost.values())):>9,}"
    yield f"    accepted twice                           {len(tally.twice):>9,}"
    yield f"    copies that a type's policy allowed      {tally.allowed:>9,}"
    yield f"    rows that name two mails                 {tally.told_double:>9,}"
    yield ""
    for line in (*tally.stories, *report.last_words):
        yield f"    {line}"


def _table(title: str, counts: Mapping[str, int]) -> Iterator[str]:
    yield f"  {title}"
    for name, count in counts.items():
        yield f"    {name:<40} {count:>9,}"
    yield ""
