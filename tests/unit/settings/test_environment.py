"""The environment wins, and what it cannot mean is said with the variable's name."""

from __future__ import annotations

from pathlib import Path

import pytest

from consumer.settings import DEFAULT_PATH, SettingsError, load
from tests.unit.settings.configurations import ENVIRONMENT, Loader


def test_no_file_is_needed() -> None:
    read = load(None, ENVIRONMENT)
    assert read.kafka.bootstrap_servers == ("127.0.0.1:9092",)
    assert read.safety.production


def test_the_default_file_may_be_missing_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load(DEFAULT_PATH, ENVIRONMENT) == load(None, ENVIRONMENT)
    with pytest.raises(SettingsError, match=r"^other\.toml: cannot be read: No such file"):
        load(Path("other.toml"), ENVIRONMENT)


def test_a_default_file_that_is_missing_is_said_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing is set at all, four settings that are needed would only hide it."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError) as nothing:
        load(DEFAULT_PATH, {})
    assert str(nothing.value).splitlines() == [
        f"sendonce.toml: was not found in {tmp_path}; name another file with --config"
    ]
    with pytest.raises(SettingsError) as some:
        load(DEFAULT_PATH, {"SENDONCE_SAFETY__ENVIRONMENT": "test"})
    first, *others = str(some.value).splitlines()
    assert first.startswith("sendonce.toml: was not found")
    assert len(others) == 3


def test_a_named_file_that_is_missing_is_all_there_is_to_say(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        load(tmp_path / "no.toml", {})
    assert len(caught.value.problems) == 1


def test_the_process_s_own_environment_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("SENDONCE_KAFKA__GROUP_ID", "other")
    assert load(None).kafka.group_id == "other"


def test_it_wins_over_the_file(settings: Loader) -> None:
    read = settings(
        '[providers.postmark]\ntoken = "a"\ntimeout = "5s"',
        SENDONCE_PROVIDERS__POSTMARK__TIMEOUT="7s",
        SENDONCE_KAFKA__BOOTSTRAP_SERVERS="a:1, [::1]:2",
        SENDONCE_KAFKA__MAX_IN_FLIGHT="7",
        SENDONCE_POSTGRES__PGBOUNCER="true",
    )
    assert read.providers["postmark"].timeout == 7.0
    assert read.kafka.bootstrap_servers == ("a:1", "[::1]:2")
    assert (read.kafka.max_in_flight, read.postgres.pgbouncer) == (7, True)


def test_a_section_may_be_in_the_environment_alone(settings: Loader) -> None:
    read = settings(
        SENDONCE_PROVIDERS__POSTMARK__TOKEN="t",
        SENDONCE_SENDERS__SHOP__FROM="Shop <a@shop.example>",
        SENDONCE_WEBHOOKS__PORT="0",
        SENDONCE_TOPICS__ORDERS__IGNORE='["a", "b"]',
        SENDONCE_OUTCOMES__TOPIC="outcomes",
    )
    assert list(read.providers) == ["postmark"]
    assert list(read.senders) == ["shop"]
    assert read.webhooks is not None
    assert (read.webhooks.port, read.outcomes.topic) == (0, "outcomes")
    assert read.topics["orders"].ignore == ("a", "b")


def test_names_that_variables_cannot_spell_are_found_in_the_file(settings: Loader) -> None:
    read = settings(
        '[topics."Orders.v1"]\nonly_listed = true\n[providers.post-eu]\ntype = "postmark"',
        SENDONCE_TOPICS__ORDERS_V1__IGNORE="a",
        SENDONCE_PROVIDERS__POST_EU__TOKEN="t",
    )
    assert list(read.topics) == ["Orders.v1"]
    assert read.topics["Orders.v1"].only_listed
    assert list(read.providers) == ["post-eu"]


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_a_variable_that_ends_in_file_names_one(
    settings: Loader, tmp_path: Path, ending: str
) -> None:
    secret = tmp_path / "dsn"
    secret.write_text(f"postgresql://x{ending}", newline="")
    dsn = settings(SENDONCE_POSTGRES__DSN_FILE=str(secret)).postgres.dsn
    assert dsn.get_secret_value() == "postgresql://x"


def test_a_secret_file_is_read_anew_each_time(settings: Loader, tmp_path: Path) -> None:
    secret = tmp_path / "token"
    for token in ("old", "new"):
        secret.write_text(token)
        read = settings(SENDONCE_ADMIN__TOKEN_FILE=str(secret)).admin.token
        assert read is not None
        assert read.get_secret_value() == token


def test_a_secret_file_that_cannot_be_read(settings: Loader, tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff")
    for file, why in (
        (tmp_path / "no", "No such file or directory"),
        (tmp_path, "Is a directory"),
        (tmp_path / "binary", "not a text in UTF-8"),
        ("a\0b", "not a text in UTF-8"),
    ):
        assert settings.problems(SENDONCE_ADMIN__TOKEN_FILE=str(file)) == [
            f"admin.token: its file cannot be read: {why} (SENDONCE_ADMIN__TOKEN_FILE)"
        ]


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("KAFKA__MAX_IN_FLIGHT", "many", "kafka.max_in_flight: must be a whole number"),
        ("KAFKA__MAX_IN_FLIGHT", "9" * 5000, "kafka.max_in_flight: must be a whole number"),
        ("KAFKA__MAX_IN_FLIGHT", "0", "kafka.max_in_flight: must be greater than or equal to 1"),
        ("POSTGRES__PGBOUNCER", "yes", "postgres.pgbouncer: must be true or false"),
        ("POSTGRES__DSN", "", "postgres.dsn: is empty"),
        ("TOPICS__A__IGNORE", "[", 'topics.a.ignore: must be a list like "a, b" or ["a", "b"]'),
        ("KAFKA__BOOTSTRAP_SERVERS", "a", ('kafka.bootstrap_servers: must be "host:port", or '
         "several of them with commas")),
        ("KAFKA__BOOTSTRAP_SERVERS", "", "kafka.bootstrap_servers: is empty"),
        ("KAFKA__SECURITY_PROTOCOL", "TLS", ("kafka.security_protocol: must be 'PLAINTEXT', 'SSL', "
         "'SASL_PLAINTEXT' or 'SASL_SSL'")),
        ("KAFKA__SSL_CAFILE", "/no/such", "kafka.ssl_cafile: names a file that is not there"),
        ("NOPE__X", "1", "nope: is unknown; did you mean"),
        ("GUARD__LEASES", "1s", "guard.leases: is unknown; did you mean lease?"),
        ("GUARD__LEASE__X", "1s", "guard.lease: must be a duration in quotes"),
        ("GUARD", "1", "SENDONCE_GUARD: is no setting: write SENDONCE_SECTION__NAME"),
        ("FOO", "1", "SENDONCE_FOO: is no setting: write SENDONCE_SECTION__NAME"),
    ],
)  # fmt: skip
def test_a_problem_names_its_variable(
    settings: Loader, name: str, value: str, problem: str
) -> None:
    problems = settings.problems(**{f"SENDONCE_{name}": value})
    if not name.startswith("NOPE"):
        assert problems[0].startswith(problem)
        assert f"SENDONCE_{name}" in problems[0]


def test_a_value_and_a_table_at_one_place(settings: Loader) -> None:
    assert settings.problems('[guard]\nlease = "30s"', SENDONCE_GUARD__LEASE__X="1") == [
        "guard.lease.x: lies inside a plain value (SENDONCE_GUARD__LEASE__X)"
    ]


def test_two_variables_for_one_setting(settings: Loader, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("t")
    assert settings.problems(
        SENDONCE_ADMIN__TOKEN="t", SENDONCE_ADMIN__TOKEN_FILE=str(tmp_path / "x")
    ) == ["admin.token: is set by more than one variable (environment)"]


def test_the_common_slip_of_one_underscore_is_noticed(settings: Loader) -> None:
    assert settings.problems(SENDONCE_POSTGRES_DSN="x", SENDONCE_ADMIN_TOKEN_FILE="/x") == [
        (
            "SENDONCE_ADMIN_TOKEN_FILE: is not read: between section and name are two _, "
            "as in SENDONCE_ADMIN__TOKEN_FILE"
        ),
        (
            "SENDONCE_POSTGRES_DSN: is not read: between section and name are two _, "
            "as in SENDONCE_POSTGRES__DSN"
        ),
    ]
    assert settings.problems(SENDONCE_KAFKA__="x", SENDONCE___X="x") == [
        "SENDONCE_KAFKA__: is no setting: write SENDONCE_SECTION__NAME",
        "SENDONCE___X: is no setting: write SENDONCE_SECTION__NAME",
    ]


def test_what_kubernetes_puts_into_the_environment_is_not_ours(settings: Loader) -> None:
    """A Service called sendonce, or sendonce-admin, makes these by itself."""
    assert not settings.problems(
        SENDONCE_PORT="tcp://10.0.0.1:8080",
        SENDONCE_SERVICE_HOST="10.0.0.1",
        SENDONCE_SERVICE_PORT_HTTP="8080",
        SENDONCE_PORT_8080_TCP_ADDR="10.0.0.1",
        SENDONCE_ADMIN_PORT="tcp://10.0.0.1:8080",
        SENDONCE_ADMIN_SERVICE_HOST="10.0.0.1",
        SENDONCE_TEST_KAFKA="127.0.0.1:9092",
        OTHER="1",
    )
