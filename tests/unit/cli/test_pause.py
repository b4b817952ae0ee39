"""What a person reads who stops something: what stands still by it, and what goes on how."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.unit.cli.conftest import Sendonce
from tests.unit.pausing import Table

SIGNED = ("--by", "ada", "--why", "wrong prices")


@pytest.fixture
def table(configured: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    table = Table()
    for path in (configured / "schemas").iterdir():
        text = (path / "mail.toml").read_text()
        (path / "mail.toml").write_text(f'providers = ["file", "second"]\n{text}')
    with (configured / "sendonce.toml").open("a") as file:
        file.write('[providers.second]\ntype = "file"\npath = "others"\n')

    def at_desk(_config: Path, question: Callable[[object], Awaitable[object]]) -> object:
        async def asked() -> object:
            return await question(SimpleNamespace(pauses=table))

        return asyncio.run(asked())

    monkeypatch.setattr("consumer.cli.pause.at_desk", at_desk)
    return table


def test_what_stops_is_told_with_who_and_why(table: Table, sendonce: Sendonce) -> None:
    told = sendonce("pause", "--type", "order.receipt", *SIGNED).stdout.splitlines()
    assert told == [
        "paused: type order.receipt, by ada since 2026-03-01 00:00:00 UTC: wrong prices",
        "stops: order.receipt",
        "parked mails that wait with it: 3",
    ]
    assert sendonce("pause").stdout.splitlines() == told
    assert sendonce("resume", "--type", "order.receipt").stdout == "Nothing is paused.\n"


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_who_pauses_what_is_paused_hears_whose_pause_stands(
    table: Table, sendonce: Sendonce, form: tuple[str, ...]
) -> None:
    assert sendonce("pause", "--type", "order.receipt", *SIGNED, *form).stderr == ""
    words = ("pause", "--type", "order.receipt", "--by", "bob", "--why", "again")
    second = sendonce(*words, *form)
    assert second.exit_code == 0
    assert second.stderr == (
        "sendonce: type order.receipt is already paused, by ada since 2026-03-01 00:00:00 UTC,"
        " because: wrong prices; that stands\n"
    )
    assert "already" not in sendonce("pause", "--all", "--by", "bob", "--why", "x", *form).stderr


def test_a_type_with_another_provider_goes_on(table: Table, sendonce: Sendonce) -> None:
    told = sendonce("pause", "--provider", "file", *SIGNED).stdout.splitlines()
    assert told[1:] == ["stops: no mail type", "goes on through second: order.receipt"]
    told = sendonce("pause", "--provider", "second", *SIGNED).stdout.splitlines()
    assert told[2] == "stops: order.receipt"


def test_lifting_one_leaves_the_others_and_tells_them(table: Table, sendonce: Sendonce) -> None:
    sendonce("pause", "--all", "--type", "order.receipt", *SIGNED)
    left = json.loads(sendonce("resume", "--all", "--json").stdout)
    assert [one["scope"] for one in left["paused"]] == ["type"]
    assert left["stops"]["stopped"] == ["order.receipt"]


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("pause", "--all"), 2, "pause needs a name and a reason"),
        (("pause", "--all", "--by", " ", "--why", "x"), 2, "pause needs a name and a reason"),
        (("pause", "--type", "order.receit", *SIGNED), 2, "there are order.receipt"),
        (("pause", "--provider", "mailgun", *SIGNED), 2, "there are file, second"),
        (("resume",), 2, "resume what?"),
        (("resume", "--all"), 1, "all is not paused"),
    ],
)
def test_a_slip_stops_nothing(
    table: Table, sendonce: Sendonce, words: tuple[str, ...], code: int, why: str
) -> None:
    result = sendonce(*words)
    assert result.exit_code == code
    assert why in result.stderr
    assert not table.rows
