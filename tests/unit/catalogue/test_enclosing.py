"""What an event brings beside the context: files to attach, and a link to leave the list by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from consumer.catalogue import Catalogue
from consumer.model import Attachment, Json, Reason
from tests.unit.catalogue.shop import MAIL, SCHEMA, bad_of, mail_of, mistakes, note, open_shop

DIGEST = "ab" * 32
INVOICE = """
[[attachments]]
name = "Rechnung.pdf"
content_type = "application/pdf"
url = "file.url"
sha256 = "file.sha256"
max_size = "5MB"
hosts = ["files.shop.example", "127.0.0.1:8443"]
optional = true
"""
LEAVE = '\n[unsubscribe]\nurl = "leave"\none_click = true\n'
URL = "https://files.shop.example/invoices/1.pdf"

ANY = ["string", "integer"]
_FILE = {
    "type": "object",
    "required": ["url", "sha256"],
    "properties": {"url": {"type": ANY}, "sha256": {"type": ANY}},
}


def shop(root: Path, text: str, *, leaves: bool = False) -> Catalogue:
    members: dict[str, Any] = {"file": _FILE, "leave": {"type": "string"}}
    required = [*SCHEMA["required"], *(["leave"] if leaves else [])]
    schema = {
        **SCHEMA,
        "required": required,
        "properties": {**SCHEMA["properties"], **members},
    }
    example = {"type": "note", "id": "1", "to": "a@b.example", "name": "A", "leave": "https://a.b/"}
    files: dict[str, str | None] = {
        "note/mail.toml": text,
        "note/v1.schema.json": json.dumps(schema),
        "note/examples/one.json": json.dumps(example),
    }
    return open_shop(root, files)


def brought(url: Json = URL, digest: Json = DIGEST) -> dict[str, Any]:
    return {"file": {"url": url, "sha256": digest}}


def test_a_file_is_named_by_its_event(tmp_path: Path) -> None:
    mail = mail_of(shop(tmp_path, MAIL + INVOICE), note(**brought(digest=DIGEST.upper())))
    hosts = ("files.shop.example", "127.0.0.1:8443")
    assert mail.attachments == (
        Attachment("Rechnung.pdf", "application/pdf", DIGEST, URL, 5_000_000, hosts),
    )


def test_a_mail_without_its_optional_file_goes_without(tmp_path: Path) -> None:
    assert mail_of(shop(tmp_path, MAIL + INVOICE), note()).attachments == ()


def test_another_file_is_another_mail_and_another_place_of_it_is_not(tmp_path: Path) -> None:
    """Signed links differ at each publication; the file does not."""
    catalogue = shop(tmp_path, MAIL + INVOICE)
    first, signed, other = (
        mail_of(catalogue, note(**brought(url, digest)))
        for url, digest in ((URL, DIGEST), (f"{URL}?signature=1", DIGEST), (URL, "cd" * 32))
    )
    assert first.fingerprint == signed.fingerprint != other.fingerprint


def test_a_mail_without_files_keeps_the_fingerprint_it_had(tmp_path: Path) -> None:
    before, after = (
        shop(tmp_path / "a", MAIL),
        shop(tmp_path / "b", MAIL + INVOICE + LEAVE, leaves=True),
    )
    fingerprint = mail_of(before, note()).fingerprint
    assert mail_of(after, note(leave="")).fingerprint == fingerprint


@pytest.mark.parametrize(
    "url",
    [
        "http://files.shop.example/1.pdf",
        "https://elsewhere.example/1.pdf",
        "https://files.shop.example.evil.example/1.pdf",
        "https://ada:secret@files.shop.example/1.pdf",
        "https://127.0.0.1:22/1.pdf",
        "https://files.shop.example:port/1.pdf",
        "https://files.shop.example/a b.pdf",
        "file:///etc/passwd",
        "https://[::1/1.pdf",
        "https:///1.pdf",
        "",
        7,
    ],
)
def test_a_link_leads_to_a_host_of_the_list_and_nowhere_else(tmp_path: Path, url: Json) -> None:
    bad = bad_of(shop(tmp_path, MAIL + INVOICE), note(**brought(url)))
    assert bad.reason is Reason.INVALID
    assert bad.detail.startswith("/file/url: ")
    assert "elsewhere" not in bad.detail


@pytest.mark.parametrize("digest", ["", "ab", "zz" * 32, 7])
def test_a_digest_is_one(tmp_path: Path, digest: Json) -> None:
    bad = bad_of(shop(tmp_path, MAIL + INVOICE), note(file={"url": URL, "sha256": digest}))
    assert bad.reason is Reason.INVALID


def test_a_local_file_server_is_for_tests(tmp_path: Path) -> None:
    local = "http://127.0.0.1:8443/1.pdf"
    [file] = mail_of(shop(tmp_path, MAIL + INVOICE), note(**brought(local))).attachments
    assert file.url == local


def test_the_link_to_leave_reaches_the_mail_and_its_fingerprint(tmp_path: Path) -> None:
    catalogue = shop(tmp_path, MAIL + LEAVE, leaves=True)
    one, other = (mail_of(catalogue, note(leave=f"https://shop.example/leave/{n}")) for n in (1, 2))
    assert one.unsubscribe == "https://shop.example/leave/1"
    assert one.fingerprint != other.fingerprint
    assert mail_of(catalogue, note(leave="")).unsubscribe is None


@pytest.mark.parametrize("link", ["http://shop.example/", "mailto:a@b.example", "javascript:1", 7])
def test_a_link_to_leave_is_a_link(tmp_path: Path, link: Json) -> None:
    bad = bad_of(shop(tmp_path, MAIL + LEAVE, leaves=True), note(leave=link))
    assert bad.reason is Reason.INVALID


MISTAKES = {
    "a path in a file's name": ("name", '"../invoice.pdf"', "attachments.0.name"),
    "no content type": ("content_type", '"pdf"', "attachments.0.content_type"),
    "a size without a unit": ("max_size", "5000", 'write a size as "500KB" or "5MB"'),
    "no host": ("hosts", "[]", "attachments.0.hosts"),
    "a host with a path": ("hosts", '["files.shop.example/x"]', "attachments.0.hosts"),
    "a path that no schema has": ("url", '"nowhere"', "attachments.0.url: unknown path"),
}


@pytest.mark.parametrize(("member", "value", "told"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_in_attachments(tmp_path: Path, member: str, value: str, told: str) -> None:
    lines = [
        f"{member} = {value}" if x.startswith(f"{member} =") else x for x in INVOICE.splitlines()
    ]
    with_extra = (
        "\n".join(lines).replace('"file.url"', '"extra"').replace('"file.sha256"', '"extra"')
    )
    found = mistakes(tmp_path, {"note/mail.toml": MAIL + with_extra})
    assert any(told in one for one in found), found


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ("[unsubscribe]\n", "name url, mailto, or both"),
        (
            '[unsubscribe]\nmailto = "leave@shop.example"\none_click = true\n',
            "one_click needs a url",
        ),
        ('[unsubscribe]\nmailto = "leave"\n', "unsubscribe.mailto"),
        ('[unsubscribe]\nlink = "nick"\n', "unknown member"),
        ('[unsubscribe]\nurl = "nick"\n', "may be absent"),
    ],
)
def test_mistakes_in_unsubscribe(tmp_path: Path, block: str, told: str) -> None:
    found = mistakes(tmp_path, {"note/mail.toml": f"{MAIL}\n{block}"})
    assert any(told in one for one in found), found
