"""What a worker ran is told as if one process had run it all: once, and with its failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]

GOOD = """
import pytest

@pytest.mark.parametrize("n", range(20))
def test_good(n, tmp_path):
    (tmp_path / "mine").touch(exist_ok=False)
"""
BAD = """
def test_bad():
    print("said before")
    assert 1 == 2

def test_left_out():
    __import__("pytest").skip("for a reason")
"""
DEADLY = "def test_deadly(): __import__('os')._exit(7)"


def ran(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "tests.cores", *options]
    isolated = ["-c", os.devnull, "--rootdir", str(folder), "--import-mode=importlib", "-rs"]
    return subprocess.run(
        [*command, *isolated, str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_every_test_is_told_once(tmp_path: Path) -> None:
    for n in range(9):
        (tmp_path / f"test_good{n}.py").write_text(GOOD)
        (tmp_path / f"test_bad{n}.py").write_text(BAD)
    result = ran(tmp_path)
    assert "9 failed, 180 passed, 9 skipped" in result.stdout
    assert result.stdout.count("assert 1 == 2") == result.stdout.count("said before") > 9
    assert "for a reason" in result.stdout
    assert result.returncode == 1


def test_a_worker_that_dies_is_no_success(tmp_path: Path) -> None:
    for n in range(9):
        (tmp_path / f"test_deadly{n}.py").write_text(DEADLY)
    assert ran(tmp_path).returncode != 0


def test_at_a_first_failure_nobody_begins_another_file(tmp_path: Path) -> None:
    for n in range(99):
        (tmp_path / f"test_bad{n}.py").write_text(BAD)
    result = ran(tmp_path, "-x")
    assert "stopping after" in result.stdout
    failed = result.stdout.count("Captured stdout call")
    assert 1 <= failed <= (os.cpu_count() or 1)
    assert result.returncode == 1


def test_nothing_is_run_where_only_the_names_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "test_deadly.py").write_text(DEADLY)
    result = ran(tmp_path, "--collect-only")
    assert "1 test collected" in result.stdout
    assert result.returncode == 0
