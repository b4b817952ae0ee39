"""Settings: durations as people write them, secrets that do not show, mistakes that are told."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from consumer.providers import AnyOptions, FileOptions, PostmarkOptions, build
from consumer.providers.options import Options, seconds

ANY: TypeAdapter[AnyOptions] = TypeAdapter(AnyOptions)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("500ms", 0.5),
        ("10s", 10.0),
        ("1.5s", 1.5),
        ("10m", 600.0),
        ("24h", 86400.0),
        ("2d", 172800),
    ],
)
def test_a_duration_is_read_as_seconds(written: str, read: float) -> None:
    assert seconds(written) == read


@pytest.mark.parametrize("written", ["10", "s", "-1s", "1 s", "1w", "", "1e3s"])
def test_what_is_no_duration_is_told(written: str) -> None:
    with pytest.raises(ValueError, match="duration"):
        seconds(written)


def test_connecting_must_be_shorter_than_the_attempt() -> None:
    with pytest.raises(ValidationError, match="connect_timeout"):
        Options.model_validate({"timeout": "1s", "connect_timeout": "1s"})


def test_an_unknown_setting_is_an_error() -> None:
    with pytest.raises(ValidationError, match="tokn"):
        ANY.validate_python({"type": "postmark", "token": "t", "tokn": "t"})


def test_secrets_do_not_show_and_may_be_one_or_many() -> None:
    options = ANY.validate_python({"type": "postmark", "token": "hush", "webhook_secret": "psst"})
    assert isinstance(options, PostmarkOptions)
    assert "hush" not in repr(options)
    assert "psst" not in repr(options)
    assert [each.get_secret_value() for each in options.webhook_secret] == ["psst"]


def test_an_account_is_told_apart_without_its_secret() -> None:
    one, two = (
        build("p", PostmarkOptions.model_validate({"token": token})) for token in ("a", "b")
    )
    named = build("p", PostmarkOptions.model_validate({"token": "a", "account": "main"}))
    assert one.account != two.account
    assert named.account == "postmark:main"


def test_a_provider_is_known_by_its_sections_name(tmp_path: object) -> None:
    options = FileOptions.model_validate(
        {"path": str(tmp_path), "timeout": "1s", "connect_timeout": "500ms"}
    )
    provider = build("outbox", options)
    assert (provider.name, provider.timeout, provider.rate) == ("outbox", 1.0, None)
