"""A Postgres as a process: `python -m tests.parts.postgres_process`.

Prints one JSON line, {"dsn": ...} of an empty database; then serves until it is stopped.
"""

from __future__ import annotations

import asyncio
import json
import signal
import threading

from tests.parts.postgres import start_postgres


def main() -> None:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())  # never in the middle of starting a child
    with start_postgres() as postgres:
        told = {"dsn": asyncio.run(postgres.database())}
        print(json.dumps(told), flush=True)  # noqa: T201 - how the parent learns the address
        stop.wait()


if __name__ == "__main__":
    main()
