"""What a mail type brings along is held at the start against what its providers can take."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import TypeAdapter

from consumer.catalogue import CatalogueError, load
from consumer.events import decode
from consumer.model import Carrier
from consumer.providers import AnyOptions, carrier
from tests.unit.catalogue.shop import FILES, MAIL, SENDERS

ATTACHED = """
[[attachments]]
name = "a.pdf"
content_type = "application/pdf"
url = "nick"
sha256 = "nick"
max_size = "{size}"
hosts = ["files.example"]
optional = true
"""
CREDENTIALS: dict[str, dict[str, object]] = {
    "postmark": {"token": "t"},
    "sendgrid": {"api_key": "k"},
    "resend": {"api_key": "k"},
    "mailgun": {"api_key": "k", "domain": "mg.example"},
    "ses": {"region": "eu-central-1", "access_key_id": "a", "secret_access_key": "s"},
    "smtp": {"host": "localhost"},
    "file": {"path": "out"},
}
OPTIONS: TypeAdapter[AnyOptions] = TypeAdapter(AnyOptions)


def carriers(*names: str) -> dict[str, Carrier]:
    options = {name: {"type": name, **CREDENTIALS[name]} for name in names}
    return {name: carrier(OPTIONS.validate_python(one)) for name, one in options.items()}


def problems(folder: Path, rules: str, known: dict[str, Carrier]) -> list[str]:
    for name, text in {**FILES, "note/mail.toml": rules}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    try:
        load(
            folder, senders=SENDERS, providers=known, retention=30 * 86_400.0,
            fingerprint_key=None, decode=decode,
        )  # fmt: skip
    except CatalogueError as wrong:
        return [str(problem) for problem in wrong.problems]
    return []


def test_files_must_fit_at_every_provider_that_a_mail_may_go_by(tmp_path: Path) -> None:
    """Together: two that fit one by one do not fit both. Failover is not what finds that out."""
    two = MAIL + 2 * ATTACHED.format(size="4MB")
    known = carriers("sendgrid", "postmark")
    [problem] = problems(tmp_path, two, known)
    taken = known["postmark"].files
    assert problem.startswith("note/mail.toml:")
    assert problem.endswith(f"attachments: up to 8000000 bytes in all, postmark takes {taken}")


@pytest.mark.parametrize("name", ["smtp", "file"])
def test_where_no_limit_is_known_none_is_held_up(tmp_path: Path, name: str) -> None:
    assert problems(tmp_path, MAIL + ATTACHED.format(size="50MB"), carriers(name)) == []


@pytest.mark.parametrize("name", sorted(set(CREDENTIALS) - {"smtp", "file"}))
def test_every_provider_with_a_limit_is_held_to_it(tmp_path: Path, name: str) -> None:
    assert problems(tmp_path / "a", MAIL + ATTACHED.format(size="5MB"), carriers(name)) == []
    assert problems(tmp_path / "b", MAIL + ATTACHED.format(size="40MB"), carriers(name))


@pytest.mark.parametrize("name", ["smtp", "file"])
def test_who_keeps_no_templates_cannot_be_given_one(tmp_path: Path, name: str) -> None:
    rules = MAIL + f'[template]\n{name} = "t-1"\n'
    [problem] = problems(tmp_path, rules, carriers(name))
    text = f"template.{name}: this provider keeps no templates: write the bodies here"
    assert problem == f"note/mail.toml:10: {text}"


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("sendgrid", "d-0123456789abcdef0123456789abcdef", "0123-4567"),
        ("postmark", "1234567", "has space"),
        ("postmark", "order-receipt", "-x"),
        ("mailgun", "order.receipt", "has space"),
        ("resend", "34a080c9-b17d-4187-ad80-5af20266e535", "has space"),
        ("ses", "OrderReceipt", "has space"),
        ("ses", "arn:aws:ses:eu-central-1:1:template/OrderReceipt", "a/b"),
    ],
)
def test_an_id_looks_like_one(tmp_path: Path, name: str, good: str, bad: str) -> None:
    for id_, expected in ((good, 0), (bad, 1)):
        rules = MAIL + f'[template]\n{name} = "{id_}"\n'
        assert len(problems(tmp_path, rules, carriers(name))) == expected
