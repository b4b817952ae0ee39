"""How Node and the packages of tests/npm come to the tests.

They are brought once, by the lock file beside `package.json`, into `.cache/npm`; scripts of
packages are not run. A machine without Node, or out of reach of a registry, skips by name.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
WANTED = ROOT / "tests" / "npm"
CACHE = ROOT / ".cache" / "npm"
INSTALL = ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier")
TIMEOUT = 300.0  # seconds; ten on a quiet line


class NoNodeError(Exception):
    """The packages cannot be had here; the message says why."""


def node_packages() -> Path:
    """Return a folder whose `node_modules` holds the packages of the lock file."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise NoNodeError(f"there is no {program} on this machine")
    lock = (WANTED / "package-lock.json").read_bytes()
    folder = CACHE / hashlib.sha256(lock).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)  # several test processes start at once
        if not (folder / "complete").exists():
            _install(folder)
    return folder


def _install(folder: Path) -> None:
    for name in ("package.json", "package-lock.json"):
        shutil.copy(WANTED / name, folder)
    try:
        subprocess.run(
            ["npm", *INSTALL], cwd=folder, check=True, capture_output=True, timeout=TIMEOUT
        )
    except subprocess.CalledProcessError as error:
        raise NoNodeError(f"npm ci failed: {error.stderr.decode()[-300:]}") from None
    except subprocess.TimeoutExpired:
        raise NoNodeError(f"npm ci took longer than {TIMEOUT:g} s") from None
    (folder / "complete").touch()


def run_module(folder: Path, script: str, *arguments: str) -> str:
    """Run a script as an ES module that sees the packages; return what it printed."""
    done = subprocess.run(
        ["node", "--input-type=module", "-", *arguments],
        cwd=folder, input=script, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout
