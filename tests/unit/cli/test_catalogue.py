"""Laws of `catalogue` and of what `render` needs: facts for upstream, from the catalogue alone."""

from __future__ import annotations

import json
from pathlib import Path
from socket import create_server

import pytest

from tests.unit.cli.conftest import Sendonce


def test_the_mails_are_listed(folder: Path, sendonce: Sendonce) -> None:
    listed = sendonce("catalogue")
    assert listed.exit_code == 0, listed.output
    assert "order.id + email" in listed.stdout
    [fact] = json.loads(sendonce("catalogue", "--json").stdout)
    assert (fact["mail_type"], fact["topic"]) == ("order.receipt", "orders")
    assert fact["examples"] == ["paid"]


def test_the_document_is_one_json_on_stdout(configured: Path, sendonce: Sendonce) -> None:
    whole = json.loads(sendonce("catalogue", "--asyncapi").stdout)
    assert whole["servers"]["kafka-1"]["host"] == "127.0.0.1:1"
    assert set(whole["channels"]) == {"orders"}  # this configuration publishes no outcomes
    alone = json.loads(sendonce("catalogue", "--asyncapi", "--catalogue", "schemas").stdout)
    assert "servers" not in alone
    assert set(alone["channels"]) == {"orders", "_outcomes"}


def test_the_pages_are_written_and_the_index_is_named(folder: Path, sendonce: Sendonce) -> None:
    said = sendonce("catalogue", "--html", "out/book")
    assert said.exit_code == 0, said.output
    assert said.stdout == "out/book/index.html\n"
    assert (folder / "out/book/mails/order.receipt.html").is_file()
    assert (folder / "out/book/asyncapi.json").is_file()


def test_a_folder_that_cannot_be_written_is_one_line(folder: Path, sendonce: Sendonce) -> None:
    (folder / "taken").write_text("x")
    said = sendonce("catalogue", "--html", "taken")
    assert said.exit_code == 1
    assert len(said.stderr.splitlines()) == 1
    assert "--html taken: names a file" in said.stderr
    assert "a folder is needed" in said.stderr


def test_a_catalogue_with_mistakes_has_no_handbook(folder: Path, sendonce: Sendonce) -> None:
    (folder / "schemas/order.receipt/subject.j2").write_text("{{ oops }}")
    said = sendonce("catalogue", "--html", "out")
    assert said.exit_code == 2
    assert "subject.j2:1" in said.stderr
    assert not (folder / "out").exists()


def test_render_wants_an_event_or_watches(folder: Path, sendonce: Sendonce) -> None:
    said = sendonce("render")
    assert said.exit_code == 2
    assert "--watch" in said.stderr


@pytest.mark.parametrize("named", [None, "order.receipt/paid", "event.json"])
def test_the_preview_loads_what_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, sendonce: Sendonce, named: str | None
) -> None:
    """By default all examples; a file that makes no mail is a proof that says why."""
    (folder / "event.json").write_text('{"type": "order.receipt"}')
    seen: list[tuple[str, bool]] = []

    async def look(preview: object, port: int) -> None:
        assert port == 0
        edition = preview._next()  # type: ignore[attr-defined]  # what the first look would show
        seen.extend((proof.name, isinstance(proof.mail, str)) for proof in edition.proofs)
        assert not edition.wrong

    monkeypatch.setattr("consumer.cli.watch._serve", look)
    said = sendonce("render", *([named] if named else []), "--watch", "--port", "0")
    assert said.exit_code == 0, said.output
    expected = {None: ("order.receipt/paid", False), "event.json": ("event.json", True)}
    assert seen == [expected.get(named, ("order.receipt/paid", False))]


def test_a_port_that_is_taken_is_one_line(folder: Path, sendonce: Sendonce) -> None:
    with create_server(("127.0.0.1", 0)) as taken:
        said = sendonce("render", "--watch", "--port", str(taken.getsockname()[1]))
    assert said.exit_code == 1
    assert "another with --port" in said.stderr
