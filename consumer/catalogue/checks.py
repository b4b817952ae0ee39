"""What must hold between a folder's files, its templates and the configuration."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from consumer.catalogue.declaration import PROVIDED, Place, misplaced
from consumer.catalogue.folder import LAYOUTS, PARTS, Findings, Folder
from consumer.catalogue.formats import known_locale, known_zone
from consumer.catalogue.inspection import Inspection
from consumer.catalogue.languages import language_of, own_locale, spoken, variants_of
from consumer.catalogue.paths import MISSING, Path
from consumer.catalogue.schema import Known
from consumer.catalogue.shared import untranslated
from consumer.catalogue.templates import Templates
from consumer.catalogue.values import parse_mailbox
from consumer.model import Address

DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class House:
    """What the configuration offers to the folders. `retention` in seconds."""

    senders: Mapping[str, Address]
    providers: Collection[str]
    retention: float
    fingerprint_key: bytes | None


def check_configured(folder: Folder, house: House, findings: Findings) -> None:
    """Everything that a folder names must be configured."""
    says, file = folder.declaration, f"{folder.name}/mail.toml"
    if says.sender not in house.senders:
        findings.add(file, folder.line("sender"), _unknown("senders", says.sender))
    for name in says.providers:
        if name not in house.providers:
            findings.add(file, folder.line("providers"), _unknown("providers", name))
    if not says.providers and not house.providers:
        findings.add(file, 0, "no provider is configured")
    if says.max_age > house.retention - DAY:
        findings.add(file, folder.line("max_age"), _TOO_LONG)
    if says.sensitive and not house.fingerprint_key:
        findings.add(file, folder.line("sensitive"), _NEEDS_KEY)
    if isinstance(reply_to := reply_address(folder, house), str):
        findings.add(file, folder.line("reply_to"), f"reply_to: {reply_to}")


def _unknown(kind: str, name: str) -> str:
    return f"there is no [{kind}.{name}] in the configuration"


_TOO_LONG = "max_age: at most the guard's retention less one day, or a rewind could mail again"
_NEEDS_KEY = "sensitive: needs fingerprint_key in [guard]"


def reply_address(folder: Folder, house: House) -> Address | str | None:
    """Return the address to reply to, a text that says why there is none, or None: not wanted."""
    wanted = folder.declaration.reply_to
    if wanted is None or wanted in house.senders:
        return house.senders[wanted] if wanted else None
    if "@" not in wanted:
        return _unknown("senders", wanted)
    try:
        return parse_mailbox(wanted)
    except ValueError as error:
        return str(error)


def check_defaults(folder: Folder, findings: Findings) -> None:
    """A locale or zone that the folder itself names must be one."""
    says = folder.declaration
    for member, source, look_up in (
        ("locale", says.locale, known_locale),
        ("timezone", says.timezone, known_zone),
    ):
        named = source.default if source else MISSING
        if named is not MISSING and not (isinstance(named, str) and look_up(named)):
            findings.add(_file(folder), folder.line(member), f"{member}: there is no {named!r}")


def check_paths(folder: Folder, findings: Findings) -> None:
    """Every path must lead somewhere in every schema version, or have a fallback."""
    for place, path in folder.declaration.paths():
        _check_path(folder, place, path, findings, fallback=False)
    for place, source in folder.declaration.sources():
        if source.path is not None:
            fallback = source.default is not MISSING or place[0] not in _NEEDED
            _check_path(folder, place, source.path, findings, fallback=fallback)
            for member in source.pick:
                _check_pick(folder, place, source.path, member, findings)
    for path in folder.declaration.sensitive:
        if path.envelope:
            findings.add(_file(folder), folder.line("sensitive"), f"{path.text}: only data can be")
        else:
            _check_path(folder, ("sensitive",), path, findings, fallback=True)


# Where a source without a fallback must find something.
_NEEDED = ("context", "unsubscribe")


def _check_path(
    folder: Folder, place: Place, path: Path, findings: Findings, *, fallback: bool
) -> None:
    if path.envelope or not folder.schemas:
        return
    known = {schema.file: schema.knows(path.steps) for schema in folder.schemas.values()}
    where = ".".join(map(str, place))
    if not any(known.values()):
        files = ", ".join(sorted(known))
        text = f"{where}: unknown path {path.text!r}: {files} does not have it"
        findings.add(_file(folder), folder.line(*place), text + misplaced(place))
    elif not fallback and (unsure := sorted(f for f, k in known.items() if k is not Known.ALWAYS)):
        files = ", ".join(unsure)
        text = f"{where}: {path.text!r} may be absent or null ({files}): {_remedy(place)}"
        findings.add(_file(folder), folder.line(*place), text)


def _check_pick(folder: Folder, place: Place, path: Path, member: str, findings: Findings) -> None:
    """A picked member is one of the object's, or of the objects of the list."""
    schemas = folder.schemas.values()
    deeper = ((*path.steps, member), (*path.steps, 0, member))
    if schemas and not any(schema.knows(steps) for schema in schemas for steps in deeper):
        where = ".".join(map(str, place))
        text = f"{where}: picks {member!r}, which no schema has below {path.text!r}"
        findings.add(_file(folder), folder.line(*place), text)


def _remedy(place: Place) -> str:
    if place[0] in _NEEDED:
        return 'require it there, or write { path = "...", default = ... } here'
    return "require it there, with a type that is never null"


def check_templates(folder: Folder, templates: Templates, findings: Findings) -> frozenset[str]:
    """Check what the templates want against what they get, in every language that they are in.

    Return the files that they use.
    """
    offered = set(folder.declaration.context)
    wanted: set[str] = set()
    files: set[str] = set()
    inspection = Inspection(templates)
    parts = [f"{folder.name}/{part}" for part in PARTS if part in folder.files]
    for locale in _locales(folder, templates):
        for reading in [inspection.read(part, locale) for part in parts]:
            findings.problems += reading.problems
            files |= reading.files
            findings.problems += untranslated(folder, locale, reading.files, templates.sources)
            wanted |= set(reading.variables)
            for variable, (file, line) in reading.variables.items():
                if variable not in offered | PROVIDED:
                    text = f"{variable!r} is not in [context] of {_file(folder)}: {_NAME_IT}"
                    findings.add(file, line, text)
    for file in sorted(files):
        findings.problems += inspection.plurals(file, _language(folder, file))
    broken = any(p.file in files for p in findings.problems) or folder.declaration.template
    told = {p.line for p in findings.problems if p.file == _file(folder)}
    for name in [] if broken else sorted(offered - wanted):
        if (line := folder.line("context", name)) not in told:
            findings.add(_file(folder), line, f"context.{name}: {_UNUSED}")
    return frozenset(files)


_NAME_IT = "name there where in the event it lies"
_UNUSED = "no template prints it, yet a change of it would be refused as a conflict"


def _locales(folder: Folder, templates: Templates) -> list[str | None]:
    """Return the folder's own locale and each other in which its mails may be written."""
    own = own_locale(folder.declaration)
    variants = variants_of(templates.sources, folder.name)
    shared = variants_of(templates.sources, LAYOUTS)
    spoke = {one for one in (*variants, *shared) if spoken(one, variants, own) == one}
    return [own, *sorted(one for one in spoke if known_locale(one) == one)]


def _language(folder: Folder, file: str) -> str | None:
    """Return the locale that a file is written in; None: nobody says it."""
    named = language_of(file)
    if named is None and file.startswith(f"{folder.name}/"):
        return own_locale(folder.declaration)
    return named if named and known_locale(named) == named else None


def check_languages(folder: Folder, findings: Findings) -> None:
    """A folder in several languages must say by what a mail's is chosen, and which is its own."""
    if (variants := variants_of(folder.template_names, folder.name)) and not own_locale(
        folder.declaration
    ):
        text = (
            f"locale: there is {folder.name}/{variants[0]}/: name the path of the reader's locale"
        )
        findings.add(_file(folder), folder.line("locale"), text + _OWN)


_OWN = ', and the language of the folder\'s own files: { path = "...", default = "en" }'


def check_hosted(folder: Folder, house: House, findings: Findings) -> None:
    """A provider may keep the template of a mail; for any other one, the bodies are needed here."""
    says = folder.declaration
    for name in says.template:
        if name not in (says.providers or house.providers):
            text = f"template.{name}: is none of the providers of this mail"
            findings.add(_file(folder), folder.line("template", name), text)
    without = [name for name in says.providers or house.providers if name not in says.template]
    for part in PARTS if says.template and without else ():
        if part not in folder.files:
            text = f"is missing, and {without[0]} has no template of its own"
            findings.add(f"{folder.name}/{part}", 0, text)


def check_leaving(folder: Folder, findings: Findings) -> None:
    """How to leave the list is said once."""
    for name in folder.declaration.headers if folder.declaration.unsubscribe else ():
        if name.lower().startswith("list-unsubscribe"):
            text = f"headers.{name}: is written by [unsubscribe]"
            findings.add(_file(folder), folder.line("headers", name), text)


def _file(folder: Folder) -> str:
    return f"{folder.name}/mail.toml"
