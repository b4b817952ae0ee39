"""The command line: one file a family of commands. It prints; what to do is decided elsewhere."""

from consumer.cli import check, dead_letters, demo, key, publish, render, service, show
from consumer.cli.app import app

__all__ = [
    "app",
    "check",
    "dead_letters",
    "demo",
    "key",
    "main",
    "publish",
    "render",
    "service",
    "show",
]


def main() -> None:
    app(prog_name="sendonce")
