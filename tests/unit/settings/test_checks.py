"""Settings that are right by themselves and wrong together."""

from __future__ import annotations

import pytest

from consumer.guard import renew_interval
from tests.unit.settings.configurations import Loader

POSTMARK = '[providers.postmark]\ntoken = "t"\n'


def test_an_attempt_must_fit_into_the_lease(settings: Loader) -> None:
    """Lease > longest attempt + 2 x renew interval + margin."""
    read = settings(POSTMARK + 'timeout = "16s"')
    assert read.guard.lease > read.longest_attempt + 2 * renew_interval(read.guard.lease)
    assert settings.problems(POSTMARK + 'timeout = "17s"') == [
        (
            "providers.postmark.timeout: must be shorter than 17s, "
            "which is what guard.lease leaves to an attempt"
        )
    ]
    assert settings.problems(POSTMARK, SENDONCE_GUARD__LEASE="10s")
    assert not settings.problems(POSTMARK + 'timeout = "17s"', SENDONCE_GUARD__LEASE="40s")


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ({"SASL_USERNAME": "u"}, ("kafka.security_protocol: is PLAINTEXT, so sasl_* is not used; "
         "say SASL_SSL or SASL_PLAINTEXT")),
        ({"SSL_CERTFILE": __file__, "SSL_KEYFILE": __file__}, ("kafka.security_protocol: is "
         "PLAINTEXT, so ssl_* is not used; say SSL or SASL_SSL")),
        ({"SECURITY_PROTOCOL": "SSL", "SSL_CERTFILE": __file__}, ("kafka.ssl_certfile: and "
         "kafka.ssl_keyfile are only of use together")),
        ({"SECURITY_PROTOCOL": "SASL_SSL"}, "kafka.sasl_mechanism: is needed with SASL_SSL"),
        ({"SECURITY_PROTOCOL": "SASL_SSL", "SASL_MECHANISM": "PLAIN", "SASL_USERNAME": "u"},
         "kafka.sasl_password: is needed with PLAIN"),
        ({"SECURITY_PROTOCOL": "SASL_SSL", "SASL_MECHANISM": "OAUTHBEARER"},
         "kafka.sasl_region: is needed with OAUTHBEARER: the AWS region"),
    ],
)  # fmt: skip
def test_kafka(settings: Loader, variables: dict[str, str], problem: str) -> None:
    environ = {f"SENDONCE_KAFKA__{name}": value for name, value in variables.items()}
    (found,) = settings.problems(**environ)
    assert found.startswith(problem)


@pytest.mark.parametrize(
    "variables",
    [
        {"SECURITY_PROTOCOL": "SSL", "SSL_CAFILE": __file__},
        {"SECURITY_PROTOCOL": "SASL_SSL", "SASL_MECHANISM": "OAUTHBEARER", "SASL_REGION": "x"},
        {"SECURITY_PROTOCOL": "SASL_PLAINTEXT", "SASL_MECHANISM": "SCRAM-SHA-512",
         "SASL_USERNAME": "u", "SASL_PASSWORD": "p"},
    ],
)  # fmt: skip
def test_ways_to_be_let_in(settings: Loader, variables: dict[str, str]) -> None:
    environ = {f"SENDONCE_KAFKA__{name}": value for name, value in variables.items()}
    assert not settings.problems(**environ)


@pytest.mark.parametrize(
    ("provider", "problem"),
    [
        ('postmark]\ntoken = "t"\nwebhook_secret = "s3cret"', "postmark.webhook_secret: "),
        ('mine]\ntype = "resend"\napi_key = "k"\nwebhook_secret = "s3cret"',
         "mine.webhook_secret: "),
        ('ses]\nregion = "eu-west-1"\nwebhook_topics = "s3cret"', "ses.webhook_topics: "),
    ],
)  # fmt: skip
def test_a_webhook_that_could_not_be_made_is_told_before_the_start(
    settings: Loader, provider: str, problem: str
) -> None:
    """Only where somebody listens, as at the start; and without the secret."""
    (found,) = settings.problems(f"[webhooks]\n[providers.{provider}\n")
    assert found.startswith(f"providers.{problem}")
    assert "s3cret" not in found
    assert not settings.problems(f"[providers.{provider}\n")


@pytest.mark.parametrize(
    ("webhooks", "admin", "clash"),
    [
        ("port = 8080", "", True),
        ('port = 8080\nhost = "10.0.0.1"', "", False),
        ('port = 8080\nhost = "10.0.0.1"', 'host = "0.0.0.0"', True),
        ("port = 0", "port = 0", False),
        ("", "", False),
    ],
)  # fmt: skip
def test_two_listeners_have_two_ports(
    settings: Loader, webhooks: str, admin: str, *, clash: bool
) -> None:
    problems = settings.problems(f"[webhooks]\n{webhooks}\n[admin]\n{admin}\n")
    told = ["webhooks.port: must not be admin.port: each listens on its own"]
    assert problems == (told if clash else [])


@pytest.mark.parametrize(
    "url", ["htp://s3cret", "s3cret.com", "https://", "http://h:99999/s3cret", "https://h?s3cret=1"]
)
@pytest.mark.parametrize("kind", ["postmark", "mailgun", "resend", "sendgrid", "ses"])
def test_where_no_request_can_be_sent_to(settings: Loader, kind: str, url: str) -> None:
    keys = {
        "postmark": 'token = "t"',
        "mailgun": 'api_key = "k"\ndomain = "example.org"',
        "ses": 'region = "eu-west-1"',
    }
    own = keys.get(kind, 'api_key = "k"')
    told = settings.problems(f'[providers.{kind}]\n{own}\nbase_url = "{url}"\n')
    assert told == [f'providers.{kind}.base_url: must be a URL like "https://api.example.com"']
    assert not settings.problems(f'[providers.{kind}]\n{own}\nbase_url = "http://[::1]:9/x/"\n')


def test_waits_do_not_shrink(settings: Loader) -> None:
    assert settings.problems('[retry]\nbase = "1m"') == [
        "retry.base: must not be longer than retry.cap"
    ]


def test_production_is_never_redirected(settings: Loader) -> None:
    assert settings.problems(SENDONCE_SAFETY__REDIRECT_TO="team@example.org") == [
        (
            "safety.redirect_to: must not stand in production: every mail would go there "
            "(SENDONCE_SAFETY__REDIRECT_TO)"
        )
    ]
    assert not settings.problems(
        SENDONCE_SAFETY__REDIRECT_TO="team@example.org", SENDONCE_SAFETY__ENVIRONMENT="staging"
    )


def test_one_mistake_does_not_hide_another(settings: Loader) -> None:
    problems = settings.problems(
        '[retry]\nbase = "1m"\n[admin]\nport = "x"', SENDONCE_SAFETY__REDIRECT_TO="a@example.org"
    )
    assert [line.partition(":")[0] for line in problems] == [
        "admin.port",
        "retry.base",
        "safety.redirect_to",
    ]


@pytest.mark.parametrize(
    ("mode", "group", "problem"),
    [
        ("live", "sendonce", None),
        ("shadow", "sendonce-shadow", None),
        ("shadow", "sendonce", "kafka.group_id: must end in 'shadow' while safety.mode is shadow"),
        ("live", "my.shadow", "kafka.group_id: must not end in 'shadow' while safety.mode is live"),
    ],
)
def test_a_shadow_never_reads_in_the_group_of_a_live_service(
    settings: Loader, mode: str, group: str, problem: str | None
) -> None:
    """Law: by name, on both sides: what a shadow has read, nobody has sent."""
    found = settings.problems(SENDONCE_SAFETY__MODE=mode, SENDONCE_KAFKA__GROUP_ID=group)
    assert len(found) == (problem is not None)
    assert "".join(found).startswith(problem or "")
