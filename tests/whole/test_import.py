"""`sendonce import` as a person meets it: what is told, what is written, and what never is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest

from consumer.keys import send_key
from tests.parts.postgres import Postgres
from tests.unit.cli.conftest import write_catalogue
from tests.whole.commands import Ran, answer, sendonce
from tests.whole.operating import HOUSE

NOW = datetime.now(UTC)
HEADER = "mail_type,entity,recipient,time,provider_id"


def _line(order: str, to: str = "ada@example.org", *, days: float = 1.0) -> str:
    return f"order.receipt,{order},{to},{(NOW - timedelta(days=days)).isoformat()},id-{order}"


LINES = (
    HEADER,
    _line("A-1"),
    _line("A-2", to="nobody"),
    _line("a-1"),  # the same mail: ids are told apart without regard to case
    'order.receipt,"A-3',
    _line("A-4", days=31),
    _line("A-5").replace("order.receipt", "order.recipe"),
    _line("A-6"),
)
BAD = {
    3: "recipient: needs exactly one at sign",
    5: "is no CSV: unexpected end of data",
    7: "mail_type: the catalogue has no folder of this name",
}


@pytest.fixture
def house(database: str, tmp_path: Path) -> Path:
    write_catalogue(tmp_path)
    (tmp_path / "sendonce.toml").write_text(HOUSE.format(dsn=database, folder=tmp_path))
    (tmp_path / "sent.csv").write_text("\n".join(LINES))
    return tmp_path


async def _import(house: Path, *words: str) -> Ran:
    command = ("import", str(house / "sent.csv"), "--config", str(house / "sendonce.toml"))
    return await sendonce(*command, *words)


async def test_bad_lines_are_named_and_all_others_are_there(house: Path) -> None:
    """Law: nothing is written by a dry run; twice is once; no address is told."""
    counted = {"new": 2, "known": 1, "standing": {}, "pointless": 1, "bad": 3, "lines": 7}
    dry = await _import(house, "--dry-run", "--json")
    done = await _import(house, "--json")
    for ran, is_dry in ((dry, True), (done, False)):
        told = orjson.loads(ran.output)
        assert ran.code == 1
        assert {name: told[name] for name in counted} == counted
        assert told["dry_run"] is is_dry
        assert {one["place"]: one["reason"] for one in told["problems"]} == {
            f"{house}/sent.csv:{number}": reason for number, reason in BAD.items()
        }
    again = await _import(house)
    text = again.output.decode()
    assert again.code == 1
    assert f"{house}/sent.csv:3: recipient: needs exactly one at sign\n" in text
    assert "3\timported already, or by a line above\n" in text
    assert "1\tolder than guard.retention" in text
    assert "imported\n" not in text
    assert "example.org" not in text + again.errors.decode()

    key = send_key("order.receipt", "A-6", "ada@example.org")
    signed = ("--by", "ada", "--why", "lost", "--config", str(house / "sendonce.toml"))
    resent = await sendonce("resend", key, *signed, "--yes")
    assert resent.code == 1
    assert "with a header idempotency-key of its own" in resent.lines[-1]


async def test_what_both_senders_have_sent_is_told_loudly(
    house: Path, postgres: Postgres, database: str
) -> None:
    """A key that this service sent, in the other one's list: that mail went out twice."""
    (house / "sent.csv").write_text(f"{HEADER}\n{_line('A-1')}\n")
    assert answer(await _import(house, "--json"))["new"] == 1
    await postgres.execute(database, "UPDATE sent_message SET catalogue = 'd1'")
    ran = await _import(house)
    assert ran.code == 0
    assert "1\tleft alone: sent here\n" in ran.output.decode()
    assert "both senders have mailed them" in ran.output.decode()
