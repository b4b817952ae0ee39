"""Laws of `check --against`: what runs is a folder or a git revision; a danger is exit code 1."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.unit.cli.conftest import MAIL, Sendonce

ME = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), *ME, *words], check=True, capture_output=True)


@pytest.fixture
def repository(folder: Path) -> Path:
    """The catalogue is committed on the branch `shop`, below the top of its repository."""
    if shutil.which("git") is None:
        pytest.skip("no git")
    git(folder, "init", "-q", "-b", "shop")
    git(folder, "add", "schemas")
    git(folder, "commit", "-q", "-m", "as it runs")
    return folder


def rekey(folder: Path) -> None:
    mail = folder / "schemas/order.receipt/mail.toml"
    mail.write_text(MAIL.replace('"order.id"\nrec', '"email"\nrec'))


def test_a_danger_is_refused_with_file_line_and_reason(
    repository: Path, sendonce: Sendonce
) -> None:
    rekey(repository)
    result = sendonce("check", "--against", "shop")
    assert result.exit_code == 1
    assert "schemas/order.receipt/mail.toml:3: entity_id: changed in place" in result.stdout
    assert "would be mailed again" in result.stdout
    told = json.loads(sendonce("check", "--against", "HEAD", "--json").stdout)
    assert (told["ok"], len(told["problems"])) == (False, 1)
    assert sendonce("check").exit_code == 0


def test_what_is_as_it_was_passes(repository: Path, sendonce: Sendonce) -> None:
    result = sendonce("check", "--against", "shop")
    assert result.exit_code == 0
    assert "no problems" in result.stdout
    assert "held against shop: nothing is mailed twice or set aside by it" in result.stdout


def test_another_folder_may_be_what_runs(folder: Path, sendonce: Sendonce) -> None:
    shutil.copytree(folder / "schemas", folder / "running")
    assert sendonce("check", "--against", "running").exit_code == 0
    rekey(folder)
    assert sendonce("check", "--against", "running").exit_code == 1


def test_a_revision_without_a_catalogue_has_nothing_to_lose(
    repository: Path, sendonce: Sendonce
) -> None:
    git(repository, "checkout", "-q", "--orphan", "empty")
    git(repository, "rm", "-q", "-r", "--cached", ".")
    git(repository, "commit", "-q", "--allow-empty", "-m", "nothing")
    rekey(repository)
    result = sendonce("check", "--against", "empty")
    assert result.exit_code == 0
    assert "NOTHING was compared" in result.stdout
    assert sendonce("check", "--against", "shop").exit_code == 1


@pytest.mark.parametrize("against", ["no-such-branch", "--output=x", ""])
def test_what_is_neither_is_wrong_usage(repository: Path, sendonce: Sendonce, against: str) -> None:
    result = sendonce("check", f"--against={against}")
    assert result.exit_code == 2
    assert "is neither a folder nor a git revision of schemas" in result.stderr


def test_without_a_repository_only_a_folder_will_do(folder: Path, sendonce: Sendonce) -> None:
    assert sendonce("check", "--against", "HEAD").exit_code == 2


@pytest.mark.parametrize("against", [".", ".git"])
def test_a_folder_without_mails_is_called_one(
    repository: Path, sendonce: Sendonce, against: str
) -> None:
    result = sendonce("check", f"--against={against}")
    assert result.exit_code == 2
    assert f"the folder {against} holds no mail type" in result.stderr


@pytest.mark.parametrize("broken", ["x = [", 'colour = "red"\n' + MAIL])
def test_what_cannot_be_read_of_before_is_no_pass(
    folder: Path, sendonce: Sendonce, broken: str
) -> None:
    """Else a slip of the pen in what runs would let every change through."""
    shutil.copytree(folder / "schemas", folder / "running")
    (folder / "running/order.receipt/mail.toml").write_text(broken)
    rekey(folder)
    result = sendonce("check", "--against", "running")
    assert result.exit_code == 1
    assert "OLD:order.receipt/mail.toml" in result.stdout
    assert "nothing can be held against it" in result.stdout


def test_a_schema_that_cannot_be_read_of_before_is_no_pass(
    folder: Path, sendonce: Sendonce
) -> None:
    shutil.copytree(folder / "schemas", folder / "running")
    (folder / "running/order.receipt/v1.schema.json").write_text("{")
    result = sendonce("check", "--against", "running")
    assert result.exit_code == 1
    assert "OLD:order.receipt/v1.schema.json" in result.stdout
