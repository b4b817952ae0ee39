"""Each setting is what it is said to be, or the start stops and says so."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from consumer.model import Address
from consumer.providers import OPTIONS
from consumer.settings import load
from tests.unit.settings.configurations import MINIMUM, Loader

SECRETS = ("s3cret", "t0ken", "k3y")


def test_the_smallest_configuration_and_its_defaults(settings: Loader) -> None:
    read = settings()
    assert (read.kafka.group_id, read.kafka.max_in_flight) == ("sendonce", 128)
    assert (read.guard.lease, read.guard.retention) == (30.0, 30 * 86400.0)
    assert (read.retry.max_attempts, read.retry.base, read.retry.cap) == (4, 0.5, 30.0)
    assert (read.postgres.start_timeout, read.postgres.pgbouncer) == (60.0, False)
    assert (read.outcomes.topic, read.webhooks) == (None, None)
    assert (read.catalogue.path, read.admin.token) == (Path("schemas"), None)
    assert (read.topics, read.senders, read.providers) == ({}, {}, {})


def test_everything_that_the_example_shows_is_read() -> None:
    read = load(Path(__file__).parents[3] / "deploy" / "sendonce.example.toml", {})
    assert read.addresses == {"shop": Address("receipts@shop.example", "Shop")}
    assert read.providers["postmark"].rate == 200
    assert read.longest_attempt == 10.0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("500ms", 0.5), ("30s", 30.0), ("10m", 600.0), ("24h", 86400.0), ("30d", 30 * 86400.0)],
)
def test_durations(settings: Loader, text: str, seconds: float) -> None:
    assert settings(f'[guard]\nretention = "{text}"').guard.retention == seconds
    assert settings(SENDONCE_GUARD__RETENTION=text).guard.retention == seconds


@pytest.mark.parametrize("text", ['"30"', "30", "1.5", '"0s"', '"-1s"', '"30 days"', '""', "true"])
def test_what_is_no_duration(settings: Loader, text: str) -> None:
    (problem,) = settings.problems(f"[guard]\nretention = {text}")
    assert problem.startswith("guard.retention: ")


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ('"earliest"', "earliest"),
        ('"latest"', "latest"),
        ('"2026-01-31T00:00:00Z"', datetime(2026, 1, 31, tzinfo=UTC)),
        ("2026-01-31T00:00:00Z", datetime(2026, 1, 31, tzinfo=UTC)),
    ],
)
def test_where_to_start(settings: Loader, text: str, start: object) -> None:
    read = settings(only=MINIMUM.replace('"earliest"', text))
    assert read.kafka.start_from == start


@pytest.mark.parametrize(
    "text", ['"soon"', '"2026-01-31"', "2026-01-31T00:00:00", "2026-01-31", "3"]
)
def test_where_not_to_start(settings: Loader, text: str) -> None:
    (problem,) = settings.problems(only=MINIMUM.replace('"earliest"', text))
    assert problem.startswith('kafka.start_from: must be "earliest", "latest" or a time')


def test_what_has_no_default_must_be_said(settings: Loader) -> None:
    assert settings.problems(only="") == [
        (
            "kafka.bootstrap_servers: is needed; write it into the file or set "
            "SENDONCE_KAFKA__BOOTSTRAP_SERVERS"
        ),
        "kafka.start_from: is needed; write it into the file or set SENDONCE_KAFKA__START_FROM",
        "postgres.dsn: is needed; write it into the file or set SENDONCE_POSTGRES__DSN",
        "safety.environment: is needed; write it into the file or set SENDONCE_SAFETY__ENVIRONMENT",
    ]


WRONG = """
surprise = 1
[kafkaa]
[guard]
lease = 30
retentoin = "30d"
[retry]
max_attempts = "4"
base = "1m"
cap = "30s"
[outcomes]
topic = ""
[admin]
port = 99999
token = 3
[topics."orders.v1"]
only_listed = 1
[senders.shop]
from = "Shop <receipts>"
[senders.b]
[providers.mystery]
[providers.post]
type = "postmark"
[providers.resend]
api_key = ["k3y"]
"""


def test_all_that_is_wrong_is_said_at_once(settings: Loader) -> None:
    assert set(settings.problems(only=WRONG + MINIMUM)) == {
        (
            "surprise: is unknown; known are admin, catalogue, guard, kafka, outcomes, postgres, "
            "privacy, providers, registry, retry, safety, senders, topics, webhooks"
        ),
        "kafkaa: is unknown; did you mean kafka?",
        'guard.lease: must be a duration in quotes: "500ms", "30s", "10m", "24h" or "30d"',
        "guard.retentoin: is unknown; did you mean retention?",
        "retry.max_attempts: must be a valid integer",
        "outcomes.topic: is empty",
        "admin.port: must be less than or equal to 65535",
        "admin.token: must be a valid string",
        'topics."orders.v1".only_listed: must be a valid boolean',
        "senders.shop.from: is no address: it needs exactly one at sign",
        "senders.b.from: is needed; write it into the file or set SENDONCE_SENDERS__B__FROM",
        "providers.mystery.type: must be one of "
        + ", ".join(sorted(OPTIONS))
        + " (default: the section's name)",
        (
            "providers.post.token: is needed; write it into the file or set "
            "SENDONCE_PROVIDERS__POST__TOKEN"
        ),
        "providers.resend.api_key: must be a valid string",
    }


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ("[outcomes]\ntopic = 3", "outcomes.topic: must be a valid string"),
        ("[topics]\norders = 3", "topics.orders: must be a section"),
        ("[providers]\nfile = 3", "providers.file: must be a section"),
        ("[[senders]]\nfrom = 3", "senders: must be sections like [senders.name]"),
        ("[[guard]]\nlease = 3", "guard: must be a section"),
        ("[admin]\nport = true", "admin.port: must be a valid integer"),
        ("[catalogue]\npath = 3", "catalogue.path: must be an instance of Path"),
        ('[topics.a]\nignore = "b"', "topics.a.ignore: must be a valid list"),
        ("[topics.a]\nignore = [1]", "topics.a.ignore.0: must be a valid string"),
    ],
)
def test_wrong_shapes(settings: Loader, more: str, problem: str) -> None:
    assert settings.problems(more) == [problem]


def test_no_secret_shows(settings: Loader) -> None:
    """Neither in what was read nor in what was refused, wherever it was written."""
    read = settings(
        '[admin]\ntoken = "t0ken"\n[guard]\nfingerprint_key = "k3y"\n'
        '[providers.postmark]\ntoken = "t0ken"\nwebhook_secret = ["k3y"]'
    )
    assert not any(secret in f"{read!r}{read}" for secret in SECRETS)
    wrong = settings.problems(
        '[admin]\nport = "t0ken"\n[retry]\nbase = "k3y"\n[senders.a]\nfrom = "s3cret"\n'
        '[providers.postmark]\ntoken = ["t0ken"]\nrate = "k3y"\n[safety.x]\n',
        SENDONCE_POSTGRES__DSN="mysql://s3cret",
        SENDONCE_KAFKA__START_FROM="t0ken",
    )
    assert len(wrong) >= 6
    assert not any(secret in line for secret in SECRETS for line in wrong)


def test_nothing_can_be_changed(settings: Loader) -> None:
    with pytest.raises(ValueError, match="frozen"):
        settings().guard.lease = 1.0


@pytest.mark.parametrize("text", ["kafka = [", "[kafka]\nx = 1\n[kafka]", "\x00"])
def test_of_what_is_no_toml_nothing_else_is_said(settings: Loader, text: str) -> None:
    """What is missing in a file that nobody could read, nobody can say."""
    [only] = settings.problems(only=text)
    assert "is not TOML: " in only


# ── Senders and allow-list


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("Shop <receipts@shop.example>", Address("receipts@shop.example", "Shop")),
        ("receipts@shop.example", Address("receipts@shop.example")),
        ("<receipts@shop.example>", Address("receipts@shop.example")),
        ("Byte, Ada <ada@example.com>", Address("ada@example.com", "Byte, Ada")),
        ("'\"Byte, Ada\" <ada@example.com>'", Address("ada@example.com", "Byte, Ada")),
        ("B\u00fcro <a@b\u00fccher.example>", Address("a@xn--bcher-kva.example", "B\u00fcro")),
    ],
)
def test_senders(settings: Loader, text: str, address: Address) -> None:
    quoted = text if text.startswith("'") else f'"{text}"'
    assert settings(f"[senders.shop]\nfrom = {quoted}").addresses == {"shop": address}


@pytest.mark.parametrize(
    "text", ["", "Shop", "Shop <>", "a@b", "Shop <a@example.com> x", "a <b@c.org> <d@e.org>",
             "Sh\\nop <a@example.com>", "a@example.com, b@example.com"]
)  # fmt: skip
def test_what_is_no_sender(settings: Loader, text: str) -> None:
    (problem,) = settings.problems(f'[senders.shop]\nfrom = "{text}"')
    assert problem.startswith("senders.shop.from: ")


def test_the_allow_list_is_kept_in_the_form_that_recipients_have(settings: Loader) -> None:
    read = settings(
        SENDONCE_SAFETY__ENVIRONMENT="staging",
        SENDONCE_SAFETY__ALLOW="@B\u00fccher.example, Ada@Example.org",
        SENDONCE_SAFETY__REDIRECT_TO=" Team@Example.org ",
    )
    assert read.safety.allow == ("@xn--bcher-kva.example", "ada@example.org")
    assert read.safety.redirect_to == "Team@example.org"
    assert not read.safety.production


@pytest.mark.parametrize("entry", ["example.com", "@", "@localhost", "*@example.com x", "@a@b.org"])
def test_what_is_no_entry_of_the_allow_list(settings: Loader, entry: str) -> None:
    (problem,) = settings.problems(SENDONCE_SAFETY__ALLOW=entry)
    assert problem.startswith('safety.allow: holds neither an address nor an "@domain"')


@pytest.mark.parametrize(
    ("dsn", "why"),
    [
        ("mysql://u:s3cret@h/d", "must start with postgresql://"),
        ("postgresql://u:s3cret@h:54x2/d", "has a port that is no number from 1 to 65535"),
        ("postgresql://u:s3cret@h:0/d", "has a port that is no number"),
        ("postgresql://u:s3cret@h:99999999999999999999/d", "has a port that is no number"),
        ("postgresql://u:s3@cret:9@h:5432/d", "has a port that is no number"),
        ("postgresql://u:s3cret@h:1,g:s3cret/d", "has a port that is no number"),
        ("postgresql://u:s3cret@h,,g/d", "names no host before its port"),
        ("postgresql://u:s3cret@/d", "names no host before its port"),
        ("postgresql://u:s3cret@[::1/d", "is no URL"),
        ("postgresql://u:s3cret@[::1]5432/d", "has no address between [ and ]"),
        ("postgresql://u:s3cret@h/d?sslmode=bogus", "has an sslmode that is none of disable, "),
        ("postgresql://u:s3cret@h/d?sslmode", "has options after ? that are not name=value"),
        ("postgresql:///d?host=h&port=s3cret", "has a port that is no number"),
        ("postgresql://h/d?channel_binding=s3cret", ("has an option that asyncpg does not know: "
         "take out channel_binding")),
        ("postgresql://h/d?sslrootcert=/s3cret", ("names a file that is not there, as its "
         "sslrootcert")),
    ],
)  # fmt: skip
def test_a_dsn_that_the_client_could_not_read(settings: Loader, dsn: str, why: str) -> None:
    """Nothing of it is repeated: the password may lie in any part."""
    (problem,) = settings.problems(SENDONCE_POSTGRES__DSN=dsn)
    assert problem.startswith(f"postgres.dsn: {why}")
    assert "s3" not in problem


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://x",
        "postgres://u:p%40ss@h:5432/d?sslmode=verify-full&application_name=x",
        "postgresql://u@h1:1,h2,[::1]:65535/d?target_session_attrs=any",
        "postgresql:///d?host=/run/postgresql&port=5432,5433&sslmode=disable",
        "postgresql://%2Frun%2Fpostgresql/d",
        f"postgresql://h/d?sslmode=verify-full&sslrootcert={__file__}&options=-cgeqo%3Doff",
    ],
)
def test_a_dsn_that_the_client_reads(settings: Loader, dsn: str) -> None:
    assert settings(SENDONCE_POSTGRES__DSN=dsn).postgres.dsn.get_secret_value() == dsn
