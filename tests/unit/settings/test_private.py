"""[privacy]: keys that are keys, and a current one that is there."""

from __future__ import annotations

import base64
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from consumer.model import MailType
from consumer.privacy import STAND_IN, privacy
from consumer.settings.private import decoded
from tests.unit.settings.configurations import Loader

KEY = base64.b64encode(bytes(range(32))).decode()
HOW = "must be 32 random bytes in Base64: openssl rand -base64 32"


def test_keys_come_from_the_file_the_environment_and_mounted_files(
    settings: Loader, tmp_path: Path
) -> None:
    (tmp_path / "key").write_text(f"{KEY}\n")
    more = {"SENDONCE_PRIVACY__KEYS__K2": KEY, "SENDONCE_PRIVACY__KEYS__K3_FILE": f"{tmp_path}/key"}
    found = settings(f'[privacy]\nkeys = {{ "k-1" = "{KEY}" }}\ncurrent = "k2"', **more).privacy
    assert {name: decoded(key) for name, key in found.keys.items()} == dict.fromkeys(
        ("k-1", "k2", "k3"), bytes(range(32))
    )
    assert KEY not in repr(found)


@pytest.mark.parametrize("key", ["", "short", KEY[:-4], KEY + KEY, "é" * 44])
def test_what_is_no_key_is_refused_and_not_repeated(settings: Loader, key: str) -> None:
    [problem] = settings.problems(f'[privacy.keys]\nk1 = "{key}"')
    assert problem in (f"privacy.keys.k1: {HOW}", "privacy.keys.k1: is empty")


def test_an_id_is_one_that_a_variable_can_spell(settings: Loader) -> None:
    assert settings.problems(f'[privacy.keys]\nK1 = "{KEY}"')
    assert settings.problems(f'[privacy.keys]\n"guard.fingerprint_key" = "{KEY}"')


def test_which_key_seals_what_is_new_is_said_where_it_is_not_clear(settings: Loader) -> None:
    two = f'[privacy]\nkeys = {{ a = "{KEY}", b = "{KEY}" }}\n'
    assert settings.problems(two) == [
        "privacy.current: is needed: which key seals new letters; keys are a, b"
    ]
    assert settings.problems(two + 'current = "c"') == [
        "privacy.current: names no key of privacy.keys; there are a, b"
    ]
    assert settings.problems('[privacy]\ncurrent = "c"') == [
        "privacy.current: names no key of privacy.keys; there are none"
    ]
    assert not settings.problems(two + 'current = "b"')


def test_who_blanks_addresses_has_a_key_to_find_them_by(settings: Loader) -> None:
    blank = '[privacy]\nblank_recipients_after = "7d"\n'
    [problem] = settings.problems(blank)
    assert problem.startswith("privacy.blank_recipients_after: needs guard.fingerprint_key")
    assert (
        settings(blank + '[guard]\nfingerprint_key = "k"').privacy.blank_recipients_after == 604800
    )


def test_what_is_private_is_what_the_catalogue_declares(settings: Loader) -> None:
    """Law: on a topic that carries a private type, what cannot be read lives as long as any."""
    types = [_type("reset", "accounts", 1800.0, private=True), _type("welcome", "accounts", 3600.0),
             _type("receipt", "orders", 60.0)]  # fmt: skip
    known = SimpleNamespace(types={one.name: one for one in types})
    found = privacy(settings(), cast("Any", known))
    assert found.plain_types == {"welcome", "receipt"}
    assert found.plain_topics == {"orders"}
    assert [(one.topic, one.mail_type, one.seconds) for one in found.lifetimes] == [
        ("accounts", "reset", 1800.0),
        ("accounts", None, 3600.0),
    ]


def _type(name: str, topic: str, max_age: float, *, private: bool = False) -> MailType:
    return MailType(name, topic, ("file",), "shop", max_age, private=private)


def test_without_a_ring_the_key_of_fingerprints_stands_in(settings: Loader) -> None:
    """And stays in the ring beside others: what was sealed before is opened."""
    guard = '[guard]\nfingerprint_key = "k"\n'
    alone = privacy(settings(guard)).ring
    assert (list(alone.keys), alone.current) == ([STAND_IN], STAND_IN)
    both = privacy(settings(f'{guard}[privacy.keys]\nk1 = "{KEY}"')).ring
    assert (sorted(both.keys), both.current) == ([STAND_IN, "k1"], "k1")
    assert both.keys[STAND_IN] == alone.keys[STAND_IN]
    assert privacy(settings()).ring.current is None
