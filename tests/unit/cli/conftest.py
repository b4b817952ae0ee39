"""A small catalogue, a configuration beside it, and the command as one types it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner, Result

from consumer.cli.commands import app
from consumer.telemetry import Logs

MAIL = """
topic = "orders"
entity_id = "order.id"
recipient = "email"
max_age = "7d"
sender = "shop"
[context]
number = "order.id"
"""
SCHEMA = """
{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
 "required": ["order", "email"],
 "properties": {"type": {}, "email": {"type": "string"},
  "order": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}}}
"""
EVENT = '{"type": "order.receipt", "order": {"id": "A-1"}, "email": "ada@example.org"}'
KEY_MATERIAL = "v1:order.receipt:a-1:ada@example.org"
CONFIG = """
[kafka]
bootstrap_servers = "127.0.0.1:1"
start_from = "earliest"
[postgres]
dsn = "postgresql://sendonce@127.0.0.1:1/sendonce"
[safety]
environment = "test"
allow = ["@example.org"]
[senders.shop]
from = "Shop <receipts@shop.example>"
[providers.file]
path = "mails"
"""

Sendonce = Callable[..., Result]


@pytest.fixture(autouse=True)
def logging_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command configures the logging of its process, which here is everybody's."""
    for module in ("consumer.cli.app", "consumer.cli.service"):
        monkeypatch.setattr(sys.modules[module], "configure_logging", _nowhere)


def _nowhere(*_: str, **__: bool) -> Logs:
    return Logs(BytesIO())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with `schemas/`, and no configuration in it or around."""
    monkeypatch.chdir(tmp_path)
    return write_catalogue(tmp_path)


def write_catalogue(root: Path) -> Path:
    kind = root / "schemas" / "order.receipt"
    (kind / "examples").mkdir(parents=True)
    (kind / "mail.toml").write_text(MAIL)
    (kind / "v1.schema.json").write_text(SCHEMA)
    (kind / "subject.j2").write_text("Your order {{ number }}")
    (kind / "body.txt.j2").write_text("Thank you for order {{ number }}.")
    (kind / "body.html.j2").write_text("<p>Thank you for order {{ number }}.</p>")
    (kind / "examples" / "paid.json").write_text(EVENT)
    return root


@pytest.fixture
def configured(folder: Path) -> Path:
    (folder / "sendonce.toml").write_text(CONFIG)
    return folder


_get_command = cache(get_command)  # reads every signature: as long as most commands take


@pytest.fixture
def sendonce(monkeypatch: pytest.MonkeyPatch) -> Sendonce:
    monkeypatch.setattr("typer.testing._get_command", _get_command)

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(app, list(arguments), prog_name="sendonce")

    return invoke
