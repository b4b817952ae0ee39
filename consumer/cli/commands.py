"""All commands, and how a run of one ends where it is interrupted or cannot be written out."""

import sys

from consumer.catalogue.endless import stopping_endless
from consumer.cli import (
    audit,
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
    prune,
    publish,
    render,
    replay,
    resend,
    send_test,
    service,
    settle,
    shadow,
    show,
)
from consumer.cli.app import app
from consumer.cli.codes import STOPPED

__all__ = [
    "app",
    "audit",
    "catalogue",
    "check",
    "dead_letters",
    "demo",
    "discard",
    "forget",
    "imports",
    "key",
    "pause",
    "prune",
    "publish",
    "render",
    "replay",
    "resend",
    "run",
    "send_test",
    "service",
    "settle",
    "shadow",
    "show",
]


def run() -> None:
    """Run the command. What cannot be written out is one line on stderr and exit code 1."""
    printing.outlive_readers()
    try:
        with stopping_endless():
            _run()
    except KeyboardInterrupt:  # before a command had begun
        sys.exit(STOPPED)
    except OSError as error:
        if not printing.is_loss(error):
            raise
        printing.drop_rest()
        sys.stderr.write(f"sendonce: the output could not be written: {error.strerror}\n")
        sys.exit(1)


def _run() -> None:
    try:
        app(prog_name="sendonce")
    finally:
        sys.stdout.flush()
