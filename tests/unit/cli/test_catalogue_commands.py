"""Laws of check, key and render: they say what the service would do, and touch nothing else."""

from __future__ import annotations

import email
import email.policy
import json
from pathlib import Path

import pytest

from consumer.keys import send_key
from tests.unit.cli.conftest import EVENT, KEY_MATERIAL, Sendonce

KEY = send_key("order.receipt", "A-1", "ada@example.org")


def test_check_needs_nothing_but_a_catalogue(folder: Path, sendonce: Sendonce) -> None:
    result = sendonce("check")
    assert result.exit_code == 0, result.output
    assert "no problems" in result.stdout
    assert "no sendonce.toml: senders, providers and retention were not checked" in result.stdout
    unchecked = ["senders", "providers", "retention"]
    assert json.loads(sendonce("check", "--json").stdout)["not_checked"] == unchecked


def test_check_says_nothing_of_the_kind_with_a_configuration(
    configured: Path, sendonce: Sendonce
) -> None:
    assert "not checked" not in sendonce("check").stdout
    assert json.loads(sendonce("check", "--json").stdout)["not_checked"] == []
    assert "--catalogue: senders" in sendonce("check", "--catalogue", "schemas").stdout


def test_a_file_that_is_missing_is_named_with_its_path(folder: Path, sendonce: Sendonce) -> None:
    (folder / "schemas/order.receipt/subject.j2").unlink()
    assert "schemas/order.receipt/subject.j2: is missing" in sendonce("check").stdout


def test_check_names_every_problem_with_file_and_line(folder: Path, sendonce: Sendonce) -> None:
    kind = folder / "schemas" / "order.receipt"
    (kind / "subject.j2").write_text("{{ nobody }}")
    (kind / "body.txt.j2").write_text("fine\n{{ broken")
    result = sendonce("check", "--json")
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert told["ok"] is False
    places = {(problem["file"], problem["line"]) for problem in told["problems"]}
    assert ("schemas/order.receipt/subject.j2", 1) in places
    assert ("schemas/order.receipt/body.txt.j2", 2) in places
    assert "schemas/order.receipt/subject.j2:1: " in sendonce("check").stdout


def test_check_runs_every_example(folder: Path, sendonce: Sendonce) -> None:
    (folder / "schemas/order.receipt/examples/broken.json").write_text('{"type": "order.receipt"}')
    result = sendonce("check")
    assert result.exit_code == 1
    assert "examples/broken.json" in result.stdout


def test_check_holds_a_catalogue_against_the_configuration(
    configured: Path, sendonce: Sendonce
) -> None:
    assert sendonce("check").exit_code == 0
    config = configured / "sendonce.toml"
    config.write_text(config.read_text().replace("[senders.shop]", "[senders.other]"))
    result = sendonce("check")
    assert result.exit_code == 1
    assert "[senders.shop]" in result.stdout
    assert sendonce("check", "--catalogue", "schemas").exit_code == 0


def test_settings_in_the_environment_alone_are_a_configuration(
    folder: Path, sendonce: Sendonce, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENDONCE_KAFKA__START_FROM", "earliest")
    result = sendonce("check")
    assert result.exit_code == 2
    assert "kafka.bootstrap_servers" in result.stderr


@pytest.mark.parametrize(
    "named", ["order.receipt", "order.receipt/paid", "schemas/order.receipt/examples/paid.json"]
)
def test_key_tells_key_and_material(folder: Path, sendonce: Sendonce, named: str) -> None:
    result = sendonce("key", named, "--json")
    assert result.exit_code == 0
    [fact] = json.loads(result.stdout)
    assert fact["idempotency_key"] == KEY
    assert fact["material"] == KEY_MATERIAL
    assert KEY in sendonce("key", named).stdout


def test_a_key_that_the_record_carries_is_told_as_such(folder: Path, sendonce: Sendonce) -> None:
    carried = "0f" * 24
    shown = sendonce("key", "order.receipt", "--header", f"sendonce-key={carried}").stdout
    assert carried in shown
    assert "carried by the record" in shown


def test_key_reads_many_events_and_fails_for_one_that_makes_no_mail(
    folder: Path, sendonce: Sendonce
) -> None:
    (folder / "events.jsonl").write_text(f'{EVENT}\n{{"type": "order.receipt"}}\n')
    result = sendonce("key", "events.jsonl", "--json")
    assert result.exit_code == 1
    good, bad = json.loads(result.stdout)
    assert (good["place"], good["idempotency_key"]) == ("events.jsonl:1", KEY)
    assert bad["place"] == "events.jsonl:2"
    assert "dead letter invalid" in bad["problem"]


def test_an_event_that_nobody_listens_to_asks_for_a_topic(folder: Path, sendonce: Sendonce) -> None:
    (folder / "event.json").write_text('{"type": "order.viewed"}')
    result = sendonce("key", "event.json")
    assert result.exit_code == 2
    assert "--topic: orders" in result.stderr
    assert "unknown_type" in sendonce("key", "event.json", "--topic", "orders").stdout


def test_render_writes_a_mail_and_a_page(folder: Path, sendonce: Sendonce) -> None:
    result = sendonce("render", "order.receipt", "--out", "mails", "--json")
    assert result.exit_code == 0, result.output
    [fact] = json.loads(result.stdout)
    mail = email.message_from_bytes(Path(fact["eml"]).read_bytes(), policy=email.policy.default)
    assert (mail["To"], mail["Subject"]) == ("ada@example.org", "Your order A-1")
    assert "<p>Thank you for order A-1.</p>" in Path(fact["html"]).read_text()
    assert "Thank you for order A-1." in sendonce("render", "order.receipt").stdout


@pytest.mark.parametrize("command", ["key", "render", "check --catalogue"])
def test_a_name_that_no_file_can_have_is_told(
    folder: Path, sendonce: Sendonce, command: str
) -> None:
    result = sendonce(*command.split(), "x" * 300)
    assert result.exit_code in (1, 2)
    assert "File name too long" in result.output
    assert isinstance(result.exception, SystemExit)


def test_what_was_typed_may_be_no_text(folder: Path, sendonce: Sendonce) -> None:
    (folder / "odd\udcff.json").write_text(EVENT)
    result = sendonce("key", "odd\udcff.json", "--header", "trace=\udcff", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)[0]["place"] == "odd\\udcff.json:1"


@pytest.mark.parametrize("command", ["key", "render", "render --watch"])
def test_a_name_of_nothing_is_told_with_the_names_that_are_known(
    folder: Path, sendonce: Sendonce, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Also by --watch, which waits for the mending of a file, but not for another name."""
    monkeypatch.setattr("consumer.cli.watch.asyncio.run", lambda work: work.close())
    result = sendonce(*command.split(), "nosuch")
    assert result.exit_code == 2
    assert "nosuch: No such file" in result.stderr
    assert "mail types are order.receipt" in result.stderr
    (folder / "schemas/order.receipt/subject.j2").write_text("{{ oops }}")
    assert sendonce("render", "--watch", "nosuch").exit_code == 0, "the page says what is wrong"


@pytest.mark.parametrize("out", ["file", "file/below"])
def test_render_says_that_its_folder_is_none(folder: Path, sendonce: Sendonce, out: str) -> None:
    (folder / "file").write_text("")
    result = sendonce("render", "order.receipt", "--out", out)
    assert result.exit_code == 1
    assert f"--out {out}: names a file, or lies below one; a folder is needed" in result.stderr


def test_render_tells_why_no_mail_comes_of_an_event(folder: Path, sendonce: Sendonce) -> None:
    (folder / "event.json").write_text('{"type": "order.receipt"}')
    result = sendonce("render", "event.json")
    assert result.exit_code == 1
    assert "dead letter invalid" in result.stdout
    assert not (folder / "out").exists()
