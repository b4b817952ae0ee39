"""[registry], and what a topic is said to hold."""

from __future__ import annotations

import pytest

from consumer import parts
from consumer.events import Format
from tests.unit.settings.configurations import Loader

URL = '[registry]\nurl = "http://registry.example:8081"\n'


def test_without_the_section_nobody_is_asked(settings: Loader) -> None:
    found = settings("")
    assert found.registry is None
    assert parts.registry(lambda: found) is None
    assert parts.decoder(found, None).schemas is None


def test_its_login_comes_from_where_secrets_come_from(settings: Loader) -> None:
    found = settings(URL, SENDONCE_REGISTRY__USERNAME="key", SENDONCE_REGISTRY__PASSWORD="s3cret")
    assert found.registry is not None
    assert "s3cret" not in repr(found)
    assert parts._login(lambda: found) == ("key", "s3cret")
    assert parts._login(lambda: settings(URL)) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[registry]\n", "registry.url: is needed"),
        ('[registry]\nurl = "registry:8081"\n', "registry.url: must be a URL like"),
        (URL + 'username = "a"\n', "registry.username: and registry.password are only of use"),
        (URL + 'username = "a:b"\npassword = "p"\n', "registry.username: must hold no colon"),
        ('[registry]\nurl = "http://u:p@registry.example"\n', "registry.url: must hold no login"),
        ('[topics.orders]\nformat = "avro"\n', "topics.orders.format: "),
    ],
)
def test_what_is_wrong_is_said(settings: Loader, text: str, problem: str) -> None:
    [told] = settings.problems(text)
    assert told.startswith(problem)


def test_a_topic_may_say_what_it_holds(settings: Loader) -> None:
    found = settings(
        '[topics.orders]\nformat = "debezium"\n', SENDONCE_TOPICS__ACCOUNTS__FORMAT="confluent"
    )
    assert parts.decoder(found, None).formats == {
        "orders": Format.DEBEZIUM,
        "accounts": Format.CONFLUENT,
    }
    assert found.topics["orders"].fuse
