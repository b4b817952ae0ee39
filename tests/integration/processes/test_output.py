"""Laws of what is written out: a full disk is one line and exit code 1, a closed stdout nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.cli.conftest import EVENT, write_catalogue

ROOT = Path(__file__).parents[3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_catalogue(tmp_path)


def ran(
    command: str, redirection: str, folder: Path, unbuffered: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run it in a process of its own, whose output a shell has put elsewhere."""
    line = f'"$0" -m consumer {command} {redirection}'
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": unbuffered}
    return subprocess.run(
        ["/bin/sh", "-c", line, sys.executable],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("command", "unbuffered"), [("check", "1"), ("key order.receipt --json", ""), ("--help", "")]
)
def test_a_full_disk(folder: Path, command: str, unbuffered: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    result = ran(command, ">/dev/full", folder, unbuffered)
    told = "sendonce: the output could not be written: No space left on device\n"
    assert (result.returncode, result.stderr) == (1, told)


def test_a_closed_output(folder: Path) -> None:
    result = ran("key order.receipt --json", ">&-", folder)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize("unbuffered", ["1", ""])
@pytest.mark.parametrize(("event", "code"), [(EVENT, 0), ('{"type": "order.receipt"}', 1)])
def test_a_reader_that_has_read_enough(
    folder: Path, event: str, code: int, unbuffered: str
) -> None:
    """Law: the exit code says what the command did, and not who read it."""
    (folder / "event.json").write_text(event)
    reading, writing = os.pipe()
    os.close(reading)
    result = subprocess.run(
        [sys.executable, "-m", "consumer", "key", "event.json"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": unbuffered},
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
        timeout=60,
    )
    os.close(writing)
    assert (result.returncode, result.stderr) == (code, b"")
