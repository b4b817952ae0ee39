"""Laws of the command line: help that teaches, exit codes 0, 1 and 2, one message, no traceback."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

from consumer import __version__, cli, settings
from consumer.cli.app import app
from tests.unit.cli.conftest import CONFIG, Sendonce

COMMANDS = ("run", "migrate", "check", "key", "render", "publish", "show", "dead-letters", "demo")


def test_the_version_is_told(sendonce: Sendonce) -> None:
    result = sendonce("--version")
    assert (result.exit_code, result.stdout) == (0, f"sendonce {__version__}\n")


def test_python_m_consumer_is_the_same_command() -> None:
    ours = importlib.import_module("consumer.__main__")
    assert ours.main is cli.main


def test_no_command_is_wrong_usage_and_shows_all_of_them(sendonce: Sendonce) -> None:
    result = sendonce()
    assert result.exit_code == 2
    for command in COMMANDS:
        assert command in result.stdout


@pytest.mark.parametrize(
    "command",
    [
        "run",
        "migrate",
        "check",
        "key",
        "render",
        "publish",
        "show",
        "dead-letters list",
        "dead-letters show",
    ],
)
def test_help_shows_an_example(sendonce: Sendonce, command: str) -> None:
    result = sendonce(*command.split(), "--help")
    assert result.exit_code == 0
    assert f"  sendonce {command}" in result.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        "nonsense",
        "check --nonsense",
        "key",
        "dead-letters show x",
        "dead-letters show 99999999999999999999999",
        "dead-letters list --before 99999999999999999999999",
        "dead-letters list --reason luck",
        "show nokey",
        "replay x",
        "replay 99999999999999999999999",
        "replay --go",
        "replay --go --by ada",
        "replay --since yesterday",
        "replay --since 2026-11-30T14:02:00",
        "replay --status settled",
        "resend nokey --by ada --why x",
        "resend " + "0" * 48,
        "discard nothing --by ada --why x",
        "discard 1",
        "settle nokey=1 --by ada --why x",
        "settle " + "0" * 48 + "=1",
    ],
)
def test_wrong_usage_ends_with_2(configured: Path, sendonce: Sendonce, arguments: str) -> None:
    result = sendonce(*arguments.split())
    assert result.exit_code == 2
    assert result.stdout == ""


@pytest.mark.parametrize(
    "arguments", [("check",), ("run",), ("migrate",), ("publish", "order.receipt")]
)
def test_wrong_settings_end_with_2_and_name_themselves(
    configured: Path, sendonce: Sendonce, arguments: tuple[str, ...]
) -> None:
    """All at once, on stderr, without a traceback."""
    (configured / "sendonce.toml").write_text(CONFIG + '[guard]\nleese = "30s"\nretention = 5\n')
    result = sendonce(*arguments)
    assert result.exit_code == 2
    assert "guard.leese" in result.stderr
    assert "guard.retention" in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize("arguments", [("check",), ("migrate",), ("dead-letters", "list")])
def test_with_json_wrong_settings_are_a_document_too(
    configured: Path, sendonce: Sendonce, arguments: tuple[str, ...]
) -> None:
    (configured / "sendonce.toml").write_text(CONFIG + '[guard]\nleese = "30s"\n')
    result = sendonce(*arguments, "--json")
    assert result.exit_code == 2
    [problem] = json.loads(result.stdout)["problems"]
    assert (problem["setting"], problem["source"]) == ("guard.leese", "sendonce.toml")
    assert problem["text"] in result.stderr


def test_with_json_a_wrong_catalogue_is_a_document_too(
    configured: Path, sendonce: Sendonce
) -> None:
    (configured / "schemas" / "order.receipt" / "subject.j2").write_text("{{ nobody }}")
    result = sendonce("publish", "order.receipt", "--json")
    assert result.exit_code == 2
    [problem] = json.loads(result.stdout)["problems"]
    assert (problem["file"], problem["line"]) == ("order.receipt/subject.j2", 1)
    assert problem["text"] in result.stderr


def test_a_named_configuration_that_is_not_there_ends_with_2(
    folder: Path, sendonce: Sendonce
) -> None:
    result = sendonce("check", "--config", "other.toml")
    assert result.exit_code == 2
    assert "other.toml" in result.stderr


@pytest.mark.parametrize("order", [("check", "--config"), ("--config",)])
def test_config_may_stand_before_or_after_the_command(
    configured: Path, sendonce: Sendonce, order: tuple[str, ...]
) -> None:
    (configured / "other.toml").write_text(CONFIG + "[nonsense]\n")
    tail = ("other.toml",) if "check" in order else ("other.toml", "check")
    assert "nonsense" in sendonce(*order, *tail).stderr


@pytest.mark.parametrize("arguments", [("migrate",), ("show", "0" * 48), ("dead-letters", "list")])
def test_a_database_that_does_not_answer_ends_with_1(
    configured: Path, sendonce: Sendonce, arguments: tuple[str, ...]
) -> None:
    result = sendonce(*arguments)
    assert result.exit_code == 1
    assert "Postgres" in result.stderr
    assert "Traceback" not in result.output


def test_a_wrong_catalogue_ends_run_with_2(configured: Path, sendonce: Sendonce) -> None:
    (configured / "schemas" / "order.receipt" / "subject.j2").write_text("{{ nobody }}")
    result = sendonce("publish", "order.receipt")
    assert result.exit_code == 2
    assert "order.receipt/subject.j2" in result.stderr


def test_run_ends_with_the_code_of_the_service(
    configured: Path, sendonce: Sendonce, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[settings.Settings] = []

    def run(found: settings.Followed) -> int:
        seen.append(found.now)
        return 1

    monkeypatch.setattr("consumer.service.run", run)
    assert sendonce("run").exit_code == 1
    assert seen[0].safety.environment == "test"


def test_local_variables_never_show_in_a_traceback() -> None:
    """They hold mails and secrets."""
    assert app.pretty_exceptions_enable is False
