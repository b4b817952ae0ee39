"""Laws of deploy/: what operators read and copy is what the code does."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from prometheus_client import generate_latest
from pydantic import BaseModel

from consumer import __version__, service, settings
from consumer.model import Reason, Status
from consumer.providers import OPTIONS, Options
from consumer.settings.schema import NAMED, SECTIONS
from consumer.telemetry import Metrics
from consumer.telemetry.labels import ANSWERS

DEPLOY = Path(__file__).parents[3] / "deploy"
EXAMPLE = (DEPLOY / "sendonce.example.toml").read_text()
MANIFEST = (DEPLOY / "kubernetes.yaml").read_text()
README = (DEPLOY / "README.md").read_text()


def test_the_example_configuration_loads() -> None:
    settings.load(DEPLOY / "sendonce.example.toml", {})


def test_the_configuration_of_the_manifest_loads(tmp_path: Path) -> None:
    """Its file and its secrets together are a whole configuration."""
    text = MANIFEST.partition("sendonce.toml: |\n")[2].partition("---\n")[0]
    (tmp_path / "sendonce.toml").write_text(dedent(text))
    here = re.sub(r"sslrootcert=[^\"&]+", f"sslrootcert={__file__}", MANIFEST)
    environ = dict(re.findall(r'(?m)^  (SENDONCE_\w+): "(.*)"$', here))
    for name, text in re.findall(r'(?m)^  ([a-z]+-[a-z]+): "(.*)"$', here):
        (tmp_path / name).write_text(text)
    for variable, path in re.findall(r"name: (SENDONCE_\w+), value: ([^}]+)}", here):
        environ[variable] = path.replace("/run/secrets/sendonce", str(tmp_path))
    found = settings.load(tmp_path / "sendonce.toml", environ)
    assert found.safety.production
    assert list(found.providers) == ["postmark"]
    for dsn in (found.postgres.dsn, found.postgres.migrate_dsn):
        assert dsn is not None
        assert "sslmode=verify-full" in dsn.get_secret_value()


def test_the_migration_is_of_the_release_and_connects_as_the_owner() -> None:
    [name] = re.findall(r"name: (sendonce-migrate-[\d-]+)", MANIFEST)
    assert name.removeprefix("sendonce-migrate-").replace("-", ".") == __version__
    assert set(re.findall(r"image: sendonce:(\S+)", MANIFEST)) == {__version__}
    job = MANIFEST.partition("kind: Job\n")[2].partition("---\n")[0]
    worker = MANIFEST.partition("kind: Deployment\n")[2]
    assert "secretRef: {name: sendonce-migrate}" in job
    assert "secretRef: {name: sendonce-migrate}" not in worker


def test_the_grace_time_of_the_manifest_is_longer_than_a_stop() -> None:
    [grace] = re.findall(r"terminationGracePeriodSeconds: (\d+)", MANIFEST)
    drain = settings.Kafka.model_fields["drain_timeout"].default
    assert int(grace) > drain + service.STOP_MARGIN + service.TASK_BUDGET + 10


def test_what_is_commented_out_in_the_example_is_a_setting_too() -> None:
    """Uncommented, the file is TOML and names no unknown setting."""
    tree = tomllib.loads(re.sub(r"(?m)^# (?=\[|[a-z_]+ = )", "", EXAMPLE))
    for section, values in tree.items():
        for names in _sections(section, values):
            assert names <= _known(section), section


def _sections(section: str, values: dict[str, Any]) -> list[set[str]]:
    return [set(one) for one in values.values()] if section in NAMED else [set(values)]


def _known(section: str) -> set[str]:
    own = SECTIONS.get(section) or NAMED.get(section)
    models: list[type[BaseModel]] = [own] if own else [*OPTIONS.values()]
    return {name for model in models for name in _fields(model)}


def test_the_example_names_every_setting() -> None:
    written = set(re.findall(r"(?m)^(?:# )?([a-z_]+) = ", EXAMPLE))
    named = [model for model in NAMED.values() if model is not None]
    models: list[type[BaseModel]] = [*SECTIONS.values(), *named, Options]
    assert {name for model in models for name in _fields(model)} <= written


def _fields(model: type[BaseModel]) -> dict[str, Any]:
    return {
        field.alias or name: None if field.is_required() else field.default
        for name, field in model.model_fields.items()
    }


def _table(header: str) -> list[list[str]]:
    lines = README.partition(f"\n{header}\n")[2].splitlines()[1:]
    rows = [line for line in lines[: lines.index("")] if line.startswith("|")]
    return [[cell.strip().strip("`") for cell in row[1:-1].split("|")] for row in rows]


def test_the_table_of_settings_names_each_with_its_default() -> None:
    told = {row[0]: row[1] for row in _table("| setting | default | meaning |")}
    known: dict[str, str] = {}
    for section, model in SECTIONS.items():
        known |= {f"{section}.{name}": text for name, text in _defaults(model)}
    for section, named in NAMED.items():
        known |= {f"{section}.*.{name}": text for name, text in _defaults(named or Options)}
    assert told == known | {"providers.*.type": ""}


def test_the_table_of_provider_settings_is_whole() -> None:
    told = {(row[0], row[1]) for row in _table("| type | setting | default | meaning |")}
    own = {
        (kind, name)
        for kind, model in OPTIONS.items()
        for name in _fields(model).keys() - _fields(Options).keys() - {"type"}
    }
    assert told == own


def _defaults(model: type[BaseModel]) -> list[tuple[str, str]]:
    return [
        (field.alias or name, "needed" if field.is_required() else _written(field.default))
        for name, field in model.model_fields.items()
    ]


def _written(default: object) -> str:
    match default:
        case None:
            return ""
        case bool() | dict():
            return str(default).lower()
        case float():
            return f'"{_duration(default)}"'
        case tuple():
            return "[]"
        case int():
            return str(default)
        case _:
            return f'"{default}"'


def _duration(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:g}ms"
    return f"{seconds / 86400:g}d" if seconds >= 86400 else f"{seconds:g}s"


def test_every_metric_is_explained_and_every_alert_has_a_metric() -> None:
    text = generate_latest(Metrics().registry).decode()
    served = {*re.findall(r"# TYPE (sendonce_\w+)", text), "sendonce_lag_records"}
    assert {row[0] for row in _table("| metric | labels | what it tells |")} == served
    rules = (DEPLOY / "alerts.yaml").read_text()
    used = set(re.findall(r"sendonce_\w+", rules))
    assert {re.sub(r"_(bucket|sum|count)$", "", name) for name in used} <= served


def test_every_alert_tells_what_to_do() -> None:
    alerts = set(re.findall(r"alert: (\w+)", (DEPLOY / "alerts.yaml").read_text()))
    assert {row[0] for row in _table("| alert | means | do |")} == alerts


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("| state | means | what comes next |", set(Status)),
        ("| reason | means | do |", set(Reason)),
    ],
)
def test_every_state_and_reason_is_explained(header: str, names: set[str]) -> None:
    assert {row[0] for row in _table(header)} == names


def test_every_class_of_answer_is_explained() -> None:
    [row] = [r for r in _table("| metric | labels | what it tells |") if "attempts_total" in r[0]]
    assert all(f"`{answer}`" in row[2] for answer in ANSWERS.values())
