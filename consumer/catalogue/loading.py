"""Folders to a catalogue, or every reason why not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from consumer.catalogue.carriers import check_carriers
from consumer.catalogue.catalogue import Catalogue, Example, TopicRule
from consumer.catalogue.checks import (
    House,
    check_configured,
    check_defaults,
    check_hosted,
    check_languages,
    check_leaving,
    check_paths,
    check_templates,
)
from consumer.catalogue.errors import CatalogueError
from consumer.catalogue.folder import (
    LAYOUTS,
    Findings,
    Folder,
    check_variants,
    read_files,
    read_folder,
)
from consumer.catalogue.mailing import Rules
from consumer.catalogue.press import Press
from consumer.catalogue.ruling import digest_of, edition_of, rules_of
from consumer.catalogue.templates import templates_of
from consumer.model import Address, Bad, Carrier, Edition, Event, Mail, Message, Record, Skipped

Decode = Callable[[Record], Event | Skipped | Bad]


def load(
    path: Path,
    *,
    senders: Mapping[str, Address],
    providers: Collection[str] | Mapping[str, Carrier],
    retention: float,
    fingerprint_key: bytes | None,
    decode: Decode,
    topics: Mapping[str, TopicRule] | None = None,
) -> Catalogue:
    """Read and check every folder below `path`; raise `CatalogueError` with all problems.

    `retention` in seconds. `decode` reads the examples as a record would be read. A type that
    names no providers takes all of them, in their order here; what they take along is known where
    `providers` says it.
    """
    house = House(senders, tuple(providers), retention, fingerprint_key)
    findings = Findings()
    try:
        folders = _folders(path, findings)
        templates = templates_of(_sources(path, folders, findings))
    except OSError as error:
        findings.add(str(error.filename or path), 0, f"cannot be read: {error.strerror}")
        raise CatalogueError(findings.problems) from None
    rules: dict[tuple[str, str], Rules] = {}
    editions: list[Edition] = []
    for folder in folders:
        _check(folder, house, providers, findings)
        used = check_templates(folder, templates, findings)
        _check_single(folder, rules, findings)
        one = rules_of(folder, house, digest_of(folder, templates.sources, used, fingerprint_key))
        rules[folder.declaration.topic, folder.on] = one
        editions.append(edition_of(folder, one, templates.sources, used))
    _check_topics(topics or {}, rules, findings)
    _stop_at(findings)

    examples = tuple(example for folder in folders for example in _examples(folder))
    catalogue = Catalogue(rules, Press(templates), topics or {}, examples, tuple(editions), house)
    for example in examples:
        _try(catalogue, example, decode, findings)
    _stop_at(findings)
    return catalogue


def _check(
    folder: Folder,
    house: House,
    providers: Collection[str] | Mapping[str, Carrier],
    findings: Findings,
) -> None:
    check_configured(folder, house, findings)
    check_defaults(folder, findings)
    check_languages(folder, findings)
    check_hosted(folder, house, findings)
    if isinstance(providers, Mapping):
        check_carriers(folder, providers, findings)
    check_leaving(folder, findings)
    check_paths(folder, findings)


def _stop_at(findings: Findings) -> None:
    if findings.problems:
        raise CatalogueError(findings.problems)


def _folders(path: Path, findings: Findings) -> list[Folder]:
    if not path.is_dir():
        findings.add(str(path), 0, "is not a folder")
        _stop_at(findings)
    named = [one for one in sorted(path.iterdir()) if one.is_dir() and one.name[0] not in "._"]
    if not named:
        findings.add(str(path), 0, "holds no mail type: add a folder with a mail.toml")
    read = [read_folder(one, findings) for one in named]
    return [folder for folder in read if folder is not None]


def _sources(path: Path, folders: list[Folder], findings: Findings) -> dict[str, str]:
    """Return every template by its name, layouts included."""
    layouts = read_files(path / LAYOUTS) if (path / LAYOUTS).is_dir() else {}
    check_variants(LAYOUTS, layouts, findings)
    files = {f"{LAYOUTS}/{name}": content for name, content in layouts.items()}
    for folder in folders:
        files |= {f"{folder.name}/{name}": content for name, content in folder.files.items()}
    sources = {}
    for name, content in files.items():
        if name.endswith(".j2"):
            try:
                sources[name] = content.decode()
            except UnicodeDecodeError:
                findings.add(name, 0, "is not UTF-8")
                sources[name] = ""
    return sources


def _check_single(
    folder: Folder, rules: Mapping[tuple[str, str], Rules], findings: Findings
) -> None:
    other = rules.get((folder.declaration.topic, folder.on))
    if other is not None:
        text = f"{other.type.name}/ listens to {folder.on!r} on this topic already"
        findings.add(f"{folder.name}/mail.toml", folder.line("on") or folder.line("topic"), text)


def _check_topics(
    topics: Mapping[str, TopicRule], rules: Mapping[tuple[str, str], Rules], findings: Findings
) -> None:
    for topic, rule in topics.items():
        if topic not in {listened for listened, _ in rules}:
            findings.add("configuration", 0, f'[topics."{topic}"]: no folder listens to it')
        for ignored in sorted(rule.ignore):
            if (topic, ignored) in rules:
                text = f'[topics."{topic}"] ignores {ignored!r}, which a folder listens to'
                findings.add("configuration", 0, text)


def _examples(folder: Folder) -> list[Example]:
    topic = folder.declaration.topic
    return [Example(name, folder.name, topic, value) for name, value in folder.example_files()]


# Examples are published in no particular year: their records are stored in one that is later.
_STORED = int(datetime(2100, 1, 1, tzinfo=UTC).timestamp() * 1000)


def _try(catalogue: Catalogue, example: Example, decode: Decode, findings: Findings) -> None:
    """An example must decode, map to its own folder, and render."""
    file = f"{example.mail_type}/examples/{example.name}.json"
    record = Record(example.topic, 0, 0, _STORED, None, example.value)
    event = decode(record)
    mail = catalogue.read(record, event) if isinstance(event, Event) else event
    if isinstance(mail, Skipped):
        findings.add(file, 0, f"is skipped: {mail.rule}")
    elif isinstance(mail, Mail) and mail.type.name != example.mail_type:
        findings.add(file, 0, f"is an event of {mail.type.name}")
    else:
        for language, outcome in _outcomes(catalogue, mail):
            if isinstance(outcome, Bad):
                findings.add(file, 0, f"{outcome.reason}: {outcome.detail}{language}")


def _outcomes(catalogue: Catalogue, mail: Mail | Bad) -> Iterator[tuple[str, Message | Bad]]:
    """Render as the example asks, then in each other language that the folder is in."""
    if isinstance(mail, Bad):
        yield "", mail
        return
    yield "", catalogue.render(mail)
    for locale in catalogue.languages(mail.type.name):
        yield f" (in {locale})", catalogue.render(replace(mail, locale=locale, timezone=None))
