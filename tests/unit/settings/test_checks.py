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
