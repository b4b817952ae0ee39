"""The command line: one file a family of commands. It prints; what to do is decided elsewhere."""

import os
import signal

from consumer.cli.codes import STOPPED


def main() -> None:
    """Run the command. Until it is there, Ctrl-C ends the process without a word.

    An interrupt that is raised within imports is told as a traceback, or swallowed by one of them.
    """
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # else a shell ignores it
    if ours:
        signal.signal(signal.SIGINT, _end)
    from consumer.cli.commands import run  # noqa: PLC0415 - imports everything: a second, or more

    if ours:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


def _end(*_: object) -> None:
    os._exit(STOPPED)
