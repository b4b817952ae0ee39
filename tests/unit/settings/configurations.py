"""Configurations to load."""

from __future__ import annotations

from pathlib import Path

from consumer.settings import Settings, SettingsError, load

MINIMUM = """
[kafka]
bootstrap_servers = "127.0.0.1:9092"
start_from = "earliest"
[postgres]
dsn = "postgresql://u:s3cret@127.0.0.1/d"
[safety]
environment = "production"
"""
ENVIRONMENT = {
    "SENDONCE_KAFKA__BOOTSTRAP_SERVERS": "127.0.0.1:9092",
    "SENDONCE_KAFKA__START_FROM": "earliest",
    "SENDONCE_POSTGRES__DSN": "postgresql://u:s3cret@127.0.0.1/d",
    "SENDONCE_SAFETY__ENVIRONMENT": "production",
}


class Loader:
    """Writes a file and loads it; `more` is appended to the smallest valid one."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "sendonce.toml"

    def __call__(self, more: str = "", *, only: str | None = None, **environ: str) -> Settings:
        self.path.write_text(MINIMUM + more if only is None else only)
        return load(self.path, environ)

    def problems(self, more: str = "", *, only: str | None = None, **environ: str) -> list[str]:
        """Return what is wrong, one line a problem, without the file's name."""
        try:
            self(more, only=only, **environ)
        except SettingsError as error:
            return [line.replace(f" ({self.path})", "") for line in str(error).splitlines()]
        return []
