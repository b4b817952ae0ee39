"""A test mail at every provider's double: taken as any mail, told as what the provider said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.doubles import APIS
from tests.doubles.engine import Double
from tests.doubles.script import Fault
from tests.unit.cli.conftest import CONFIG, write_catalogue
from tests.whole.commands import Ran, sendonce

WORDS = ("send-test", "order.receipt/paid", "--to", "grace@example.org", "--json")


async def sent(folder: Path, double: Double, **changes: object) -> Ran:
    """Send through the double, as it is configured."""
    write_catalogue(folder)
    section = {**double.options, **changes}
    lines = [f"{name} = {json.dumps(value)}" for name, value in section.items()]
    safe, _, _ = CONFIG.partition("[providers.file]")
    catalogue = f'[catalogue]\npath = "{folder / "schemas"}"\n'
    (folder / "sendonce.toml").write_text(
        "\n".join([safe, catalogue, "[providers.mine]", *lines, ""])
    )
    return await sendonce(*WORDS, "--config", str(folder / "sendonce.toml"))


@pytest.mark.parametrize("name", APIS)
async def test_every_provider_takes_it(tmp_path: Path, name: str) -> None:
    """Once, under the key that is told, whatever a provider asks of a key's form."""
    async with Double(APIS[name]()) as double:
        ran = await sent(tmp_path, double)
        assert ran.code == 0, ran.errors
        told = json.loads(ran.output)
        assert double.ledger.accepted == {told["key"]: [told["provider_message_id"]]}
        assert b"[test] Your order A-1" in bytes(double.calls[-1].body)


async def test_a_wrong_token_is_what_stops_every_mail(tmp_path: Path) -> None:
    async with Double(APIS["postmark"]()) as double:
        ran = await sent(tmp_path, double, token="wrong")
    assert ran.code == 1
    told = json.loads(ran.output)
    assert told["accepted"] is False
    assert told["answer"].startswith("refused, as would be any mail now: ")


async def test_a_lost_answer_is_told_as_such_and_never_tried_again(tmp_path: Path) -> None:
    async with Double(APIS["postmark"]()) as double:
        double.script.then(Fault("drop"))
        ran = await sent(tmp_path, double)
        assert ran.code == 1
        assert json.loads(ran.output)["answer"].startswith("nobody knows")
        assert double.ledger.attempts == 1
