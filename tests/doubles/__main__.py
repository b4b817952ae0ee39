"""A double as a process: `python -m tests.doubles --provider postmark --drop 0.05 --seed 7`.

Prints one JSON line, with what goes into [providers.X] to be sent here under "options" and where it
is controlled under "control"; then serves until it is stopped. `--webhook URL` (several) is called
for what it accepts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from tests.doubles import APIS
from tests.doubles.engine import Double
from tests.doubles.script import WORDS
from tests.doubles.webhooks import Caller, speech

if TYPE_CHECKING:
    from tests.doubles.smtp import SmtpDouble

RATES = sorted((WORDS - {"ok", "status"}) | {"error"})


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.doubles")
    parser.add_argument("--provider", choices=sorted([*APIS, "smtp"]), required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--webhook", action="append", default=[], metavar="URL")
    for word in RATES:
        parser.add_argument(f"--{word}", type=float, default=0.0, metavar="RATE")
    asyncio.run(serve(parser.parse_args()))


async def serve(given: argparse.Namespace) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with AsyncExitStack() as stack:
        double, control = await _double(given, stack)
        rates = {word: rate for word in RATES if (rate := getattr(given, word))}
        double.script.at_rates(rates, given.seed)
        options = {**double.options, **await _webhooks(given, double, stack)}
        told = {"provider": given.provider, "options": options, "control": control}
        print(json.dumps(told), flush=True)  # noqa: T201 - how the parent learns the port
        await stop.wait()


async def _double(
    given: argparse.Namespace, stack: AsyncExitStack
) -> tuple[Double | SmtpDouble, str]:
    if given.provider == "smtp":
        try:
            from tests.doubles.submission import submission  # noqa: PLC0415 - needs aiosmtpd
        except ModuleNotFoundError as missing:
            raise SystemExit(f"{missing}: see tests/requirements.txt") from None
        return await stack.enter_async_context(submission())
    double = Double(APIS[given.provider](), port=given.port)
    await stack.enter_async_context(double)
    return double, double.url


async def _webhooks(
    given: argparse.Namespace, double: Double | SmtpDouble, stack: AsyncExitStack
) -> dict[str, str]:
    if not given.webhook:
        return {}
    said = speech(given.provider)
    caller = await stack.enter_async_context(Caller(said, given.webhook, given.seed))
    double.ledger.on_accept = caller.tell
    return {"webhook_secret": said.secret}


if __name__ == "__main__":
    main()
