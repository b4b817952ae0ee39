"""The command line: one file a family of commands. It prints; what to do is decided elsewhere."""

from consumer.cli.app import app

__all__ = ["app", "main"]


def main() -> None:
    app(prog_name="sendonce")
