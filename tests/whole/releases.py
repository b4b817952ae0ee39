"""Two releases side by side: the one before this one, out of the history; changed catalogues."""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
from pathlib import Path

import orjson
import pytest

from tests.whole.stack import Stack
from tests.whole.worker import Worker

ROOT = Path(__file__).parents[2]
NEWEST = max((ROOT / "consumer/guard/migrations").glob("*.sql"))


def release_before(folder: Path) -> Path:
    """Unpack the last commit before this release's newest migration, which is another release.

    Without a history there is none, and the test is skipped.
    """
    added = _git("log", "--diff-filter=A", "--format=%H", "--", str(NEWEST.relative_to(ROOT)))
    commits = added.decode().split()
    packed = (
        _git("archive", "--format=tar", f"{commits[-1]}^", "consumer", "schemas")
        if commits
        else b""
    )
    if not packed:
        pytest.skip(f"no release before {NEWEST.name}: no git history")
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def _git(*words: str) -> bytes:
    if shutil.which("git") is None:
        return b""
    command = ["git", "-C", str(ROOT), *words]
    done = subprocess.run(command, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else b""


def of_release(worker: Worker, release: Path) -> Worker:
    """Have a worker run the code of another release: Python looks first where it is started."""
    worker.command = ["sh", "-c", 'cd "$0" && exec "$@"', str(release), *worker.command]
    return worker


def changed(catalogue: Path, since: str) -> Path:
    """Change what a deploy may: a variable more, other words, another key from `since` on."""
    receipt = catalogue / "order.receipt"
    schema = orjson.loads((receipt / "v1.schema.json").read_bytes())
    schema["properties"]["order"]["properties"]["gift"] = {"type": ["string", "null"]}
    (receipt / "v1.schema.json").write_bytes(orjson.dumps(schema))
    declared = (receipt / "mail.toml").read_text()
    more = '[context]\ngift = { path = "order.gift", default = "no" }'
    block = f'\n[[key]]\nsince = {since}\nentity_id = ["order.currency", "order.id"]\n'
    (receipt / "mail.toml").write_text(declared.replace("[context]", more) + block)
    for subject in receipt.rglob("subject.j2"):
        subject.write_text(f"{subject.read_text().rstrip()} (gift: {{{{ gift }}}})\n")
    return catalogue


def at_catalogue(stack: Stack, catalogue: Path) -> Worker:
    """Make a worker of another catalogue."""
    return stack.worker(catalogue={"path": str(catalogue)})
