"""A double as a process: `python -m tests.doubles --provider postmark --drop 0.05 --seed 7`.

Prints one JSON line, with what goes into [providers.X] to be sent here under "options"; then
serves until it is stopped.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal

from tests.doubles import APIS
from tests.doubles.engine import Double
from tests.doubles.script import WORDS

RATES = sorted((WORDS - {"ok", "status"}) | {"error"})


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.doubles")
    parser.add_argument("--provider", choices=sorted(APIS), required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    for word in RATES:
        parser.add_argument(f"--{word}", type=float, default=0.0, metavar="RATE")
    asyncio.run(serve(parser.parse_args()))


async def serve(given: argparse.Namespace) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with Double(APIS[given.provider](), port=given.port, seed=given.seed) as double:
        double.script.at_rates({word: rate for word in RATES if (rate := getattr(given, word))})
        print(json.dumps(described(double)), flush=True)  # noqa: T201 - how the parent learns the port
        await stop.wait()


def described(double: Double) -> dict[str, object]:
    return {"provider": double.api.name, "port": double.port, "options": double.options}


if __name__ == "__main__":
    main()
