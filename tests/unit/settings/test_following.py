"""Secrets in files: read again while the service runs; what cannot be taken changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from consumer.providers import OPTIONS
from consumer.settings import Followed, follow
from consumer.settings.following import CREDENTIALS
from tests.parts.mount import Mount
from tests.unit.settings.configurations import ENVIRONMENT

CHANGED = "secret changed"
NOT_TAKEN = "secret not taken up"


@pytest.fixture
def mount(tmp_path: Path) -> Mount:
    return Mount(tmp_path)


def followed(mount: Mount, **files: str) -> Followed:
    """Follow settings of which these come from files, by variable without its prefix."""
    variables = {f"SENDONCE_{name}_FILE": mount.path(file) for name, file in files.items()}
    environ = {
        name: value for name, value in ENVIRONMENT.items() if f"{name}_FILE" not in variables
    }
    return follow(None, environ | variables)


def token(found: Followed) -> str:
    return str(getattr(found.now.providers["postmark"], "token").get_secret_value())  # noqa: B009 - one of many types


def test_a_mount_that_is_swapped_is_taken_up_and_told_once_by_name(mount: Mount) -> None:
    mount(token="canary-old")
    found = followed(mount, PROVIDERS__POSTMARK__TOKEN="token")
    with capture_logs() as lines:
        found.look()
        mount(token="canary-new\n")
        found.look()
        found.look()
    assert token(found) == "canary-new"
    assert [line["event"] for line in lines] == [CHANGED]
    assert lines[0]["setting"] == "providers.postmark.token"
    assert "canary" not in str(lines)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda file: file.unlink(), "cannot be read: No such file or directory"),
        (lambda file: file.write_text(" \n"), "is empty"),
        (lambda file: file.write_bytes(b"\xffcanary"), "not a text in UTF-8"),
        (lambda file: (file.unlink(), file.mkdir()), "Is a directory"),
    ],
)
def test_a_file_that_gives_nothing_leaves_the_old_value_and_is_told_once(
    tmp_path: Path, spoil: object, why: str
) -> None:
    file = tmp_path / "token"
    file.write_text("old")
    found = followed(Mount(tmp_path), PROVIDERS__POSTMARK__TOKEN="token")
    with capture_logs() as lines:
        spoil(file)  # type: ignore[operator]  # a lambda of the table above
        found.look()
        found.look()
    assert token(found) == "old"
    assert [line["event"] for line in lines] == [NOT_TAKEN]
    assert why in lines[0]["why"]
    assert lines[0]["setting"] == "providers.postmark.token"
    assert "canary" not in str(lines)


def test_what_was_unreadable_is_taken_up_as_soon_as_it_can_be_read(mount: Mount) -> None:
    mount(token="old")
    found = followed(mount, PROVIDERS__POSTMARK__TOKEN="token")
    (mount.folder / "..data").unlink()
    with capture_logs() as lines:
        found.look()
        mount(token="new")
        found.look()
        (mount.folder / "..data").unlink()
        found.look()
    assert token(found) == "new"
    assert [line["event"] for line in lines] == [NOT_TAKEN, CHANGED, NOT_TAKEN]


def test_a_value_that_is_wrong_changes_nothing_and_keeps_no_other_from_changing(
    mount: Mount,
) -> None:
    mount(dsn="postgresql://u:old@h/d", token="old")
    found = followed(mount, POSTGRES__DSN="dsn", PROVIDERS__POSTMARK__TOKEN="token")
    mount(dsn="mysql://canary", token="new")
    with capture_logs() as lines:
        found.look()
        found.look()
    assert found.now.postgres.dsn.get_secret_value() == "postgresql://u:old@h/d"
    assert token(found) == "new"
    assert [(line["event"], line["setting"]) for line in lines] == [
        (NOT_TAKEN, "postgres.dsn"),
        (CHANGED, "providers.postmark.token"),
    ]
    assert "must start with postgresql://" in lines[0]["why"]
    assert "canary" not in str(lines)


@pytest.mark.parametrize(
    ("new", "taken"),
    [
        ("postgresql://other:new@h:5432,g/d?sslmode=require", True),
        ("postgresql://h:5432,g/d?sslmode=require&user=a&password=b", True),
        ("postgresql://u:new@h:5432/d?sslmode=require", False),
        ("postgresql://u:new@h:5432,g/other?sslmode=require", False),
        ("postgresql://u:new@h:5432,g/d?sslmode=disable", False),
    ],
)
def test_the_login_of_the_database_rotates_and_the_database_does_not(
    mount: Mount, new: str, *, taken: bool
) -> None:
    """Another database knows nothing of what was sent: all of it would go out again."""
    mount(dsn="postgresql://u:old@h:5432,g/d?sslmode=require")
    found = followed(mount, POSTGRES__DSN="dsn")
    mount(dsn=new)
    with capture_logs() as lines:
        dsn = found.look().postgres.dsn.get_secret_value()
    assert (dsn == new) == taken
    assert [line["event"] for line in lines] == [CHANGED if taken else NOT_TAKEN]
    assert taken or "leads to another database" in lines[0]["why"]


def test_name_and_password_change_together(mount: Mount) -> None:
    mount(name="old", password="old")
    smtp = {"PROVIDERS__SMTP__USERNAME": "name", "PROVIDERS__SMTP__PASSWORD": "password"}
    variables = {f"SENDONCE_{name}_FILE": mount.path(file) for name, file in smtp.items()}
    found = follow(None, {**ENVIRONMENT, **variables, "SENDONCE_PROVIDERS__SMTP__HOST": "h"})
    mount(name="new", password="newer")
    options = found.look().providers["smtp"].model_dump()
    assert options["username"] == "new"
    assert options["password"] == SecretStr("newer")


def test_old_and_new_webhook_secret_are_two_lines_of_one_file(mount: Mount) -> None:
    mount(token="t", hook="user:old")
    files = {"PROVIDERS__POSTMARK__TOKEN": "token", "PROVIDERS__POSTMARK__WEBHOOK_SECRET": "hook"}
    found = followed(mount, **files)
    mount(token="t", hook="user:old\nuser:new\n")
    secrets = found.look().providers["postmark"].webhook_secret
    assert [one.get_secret_value() for one in secrets] == ["user:old", "user:new"]


@pytest.mark.parametrize(
    "place", ["GUARD__FINGERPRINT_KEY", "POSTGRES__MIGRATE_DSN", "KAFKA__GROUP_ID"]
)
def test_what_a_running_service_cannot_take_up_is_told_and_left(mount: Mount, place: str) -> None:
    """Under another fingerprint key, every redelivered mail would look like a conflict."""
    mount(it="postgresql://old")
    found = followed(mount, **{place: "it"})
    before = found.now
    mount(it="postgresql://new")
    with capture_logs() as lines:
        found.look()
        found.look()
    assert found.now == before
    assert [line["event"] for line in lines] == [NOT_TAKEN]
    assert "by a restart only" in lines[0]["why"]


def test_every_secret_of_every_provider_can_rotate() -> None:
    secrets = {
        name
        for model in OPTIONS.values()
        for name, field in model.model_fields.items()
        if "SecretStr" in str(field.annotation)
    }
    assert secrets <= CREDENTIALS


def test_an_empty_file_stops_the_start(mount: Mount) -> None:
    mount(token="")
    with pytest.raises(ValueError, match=r"admin\.token: its file is empty"):
        followed(mount, ADMIN__TOKEN="token")
