"""How a real PgBouncer comes to the tests: the machine's program, transaction pooling, one pool.

with start_pgbouncer(postgres.dsn) as pooled:
    pooled(dsn)             # the same database, through the pool
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

PROGRAM = "pgbouncer"
START_TIMEOUT = 30.0  # seconds
POOL = 3  # connections to the server for all clients: fewer than a worker has lanes


class NoPgBouncerError(Exception):
    """There is no PgBouncer on this machine, or it does not start; the message says which."""


@contextmanager
def start_pgbouncer(dsn: str) -> Iterator[Callable[[str], str]]:
    """Yield what turns the DSN of a database of this server into one that leads through the pool.

    Raises NoPgBouncerError.
    """
    program = shutil.which(PROGRAM) or shutil.which(PROGRAM, path="/usr/sbin:/usr/local/sbin")
    if program is None:
        raise NoPgBouncerError(f"no {PROGRAM} on this machine")
    with tempfile.TemporaryDirectory(prefix="sendonce-pgbouncer-") as made:
        port = _free_port()
        process = _start(program, Path(made), port, dsn)
        try:
            _wait(process, port, Path(made) / "log")
            yield lambda direct: _through(direct, port)
        finally:
            process.kill()
            process.wait()


def _start(program: str, folder: Path, port: int, dsn: str) -> subprocess.Popen[bytes]:
    parts = urlsplit(dsn)
    login = f"user={parts.username}" + (f" password={parts.password}" if parts.password else "")
    (folder / "pgbouncer.ini").write_text(
        f"[databases]\n"
        f"* = host={parts.hostname} port={parts.port or 5432} {login}\n"
        f"[pgbouncer]\n"
        f"listen_addr = 127.0.0.1\n"
        f"listen_port = {port}\n"
        f"unix_socket_dir =\n"
        f"auth_type = any\n"
        f"pool_mode = transaction\n"
        f"default_pool_size = {POOL}\n"
    )
    who = _user()
    if who is not None:
        shutil.chown(folder, who)
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            [program, str(folder / "pgbouncer.ini")],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=folder, user=who,
            group=None if who is None else pwd.getpwnam(who).pw_gid,
            extra_groups=None if who is None else [],
        )  # fmt: skip


def _user() -> str | None:
    """It refuses root, as the server itself does."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in known)


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + START_TIMEOUT
    while process.poll() is None and time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise NoPgBouncerError(f"it did not start:\n{log.read_text(errors='replace')[-2000:]}")


def _through(dsn: str, port: int) -> str:
    parts = urlsplit(dsn)
    return urlunsplit(parts._replace(netloc=f"{parts.username}@127.0.0.1:{port}"))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
