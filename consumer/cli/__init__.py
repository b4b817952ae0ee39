"""The command line: one file a family of commands. It prints; what to do is decided elsewhere."""

import sys

from consumer.cli import (
    catalogue,
    check,
    dead_letters,
    demo,
    discard,
    forget,
    imports,
    key,
    pause,
    printing,
    publish,
    render,
    replay,
    resend,
    send_test,
    service,
    shadow,
    show,
)
from consumer.cli.app import app

__all__ = [
    "app",
    "catalogue",
    "check",
    "dead_letters",
    "demo",
    "discard",
    "forget",
    "imports",
    "key",
    "main",
    "pause",
    "publish",
    "render",
    "replay",
    "resend",
    "send_test",
    "service",
    "shadow",
    "show",
]


def main() -> None:
    """Run the command. What cannot be written out is one line on stderr and exit code 1."""
    printing.replace_closed()
    try:
        _run()
    except OSError as error:
        if not printing.is_loss(error):
            raise
        printing.drop_rest()
        if not isinstance(error, BrokenPipeError):  # whoever read it has read enough
            sys.stderr.write(f"sendonce: the output could not be written: {error.strerror}\n")
        sys.exit(1)


def _run() -> None:
    try:
        app(prog_name="sendonce")
    finally:
        sys.stdout.flush()
