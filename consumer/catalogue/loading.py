"""Folders to a catalogue, or every reason why not."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from consumer.catalogue.carriers import check_carriers
from consumer.catalogue.catalogue import Catalogue, TopicRule
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
from consumer.catalogue.examples import Decode, examples_of, is_strange, try_examples
from consumer.catalogue.folder import (
    LAYOUTS,
    NOT_UTF8,
    Findings,
    Folder,
    check_variants,
    read_files,
    read_folder,
    text_of,
)
from consumer.catalogue.mailing import Rules
from consumer.catalogue.press import Press
from consumer.catalogue.ruling import digest_of, edition_of, rules_of
from consumer.catalogue.special import special_files
from consumer.catalogue.templates import templates_of
from consumer.model import Address, Carrier, Edition


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
        read = _folders(path, findings)
        folders = [folder for folder in read if folder is not None]
        templates = templates_of(_sources(path, folders, findings))
    except OSError as error:
        findings.add(str(error.filename or path), 0, f"cannot be read: {error.strerror}")
        raise CatalogueError(findings.problems) from None
    rules: dict[tuple[str, str], Rules] = {}
    editions: list[Edition] = []
    for folder in folders:
        _check(folder, house, providers, findings)
        strange = is_strange(folder, frozenset(one.name for one in folders), decode, findings)
        used = check_templates(folder, templates, Findings() if strange else findings)
        _check_single(folder, rules, findings)
        one = rules_of(folder, house, digest_of(folder, templates.sources, used, fingerprint_key))
        rules[folder.declaration.topic, folder.on] = one
        editions.append(edition_of(folder, one, templates.sources, used))
    if None not in read:  # else a topic may lack its folder for that alone
        _check_topics(topics or {}, rules, findings)
    _stop_at(findings)

    examples = tuple(example for folder in folders for example in examples_of(folder))
    catalogue = Catalogue(rules, Press(templates), topics or {}, examples, tuple(editions), house)
    for folder in folders:
        try_examples(catalogue, folder, decode, findings)
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
    if not any(_is_schema_of(folder, problem.file) for problem in findings.problems):
        check_paths(folder, findings)  # else of a misspelt `required`, all that it requires is told


def _is_schema_of(folder: Folder, file: str) -> bool:
    return file.startswith(f"{folder.name}/") and file.endswith(".schema.json")


def _stop_at(findings: Findings) -> None:
    if findings.problems:
        raise CatalogueError(findings.problems)


def _folders(path: Path, findings: Findings) -> list[Folder | None]:
    if not path.is_dir():
        findings.add(str(path), 0, "is not a folder")
        _stop_at(findings)
    findings.problems += special_files(path)
    _stop_at(findings)  # what would be told of the files that are not there comes of that
    named = [one for one in sorted(path.iterdir()) if one.is_dir() and one.name[0] not in "._"]
    if not named:
        findings.add(str(path), 0, "holds no mail type: add a folder with a mail.toml")
    return [read_folder(one, findings) for one in named]


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
                sources[name] = text_of(content)
            except UnicodeDecodeError:
                findings.add(name, 0, NOT_UTF8)
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
