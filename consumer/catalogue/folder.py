"""A folder of the catalogue as it lies on disk, read but not yet believed."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Final

from pydantic import ValidationError

from consumer.catalogue.declaration import Declaration, said
from consumer.catalogue.errors import Problem
from consumer.catalogue.formats import known_locale
from consumer.catalogue.keywords import unknown_words
from consumer.catalogue.places import line_of, lines_of
from consumer.catalogue.schema import Schema, compile_schema

SUBJECT, HTML, TEXT = "subject.j2", "body.html.j2", "body.txt.j2"
PARTS: Final = (SUBJECT, HTML, TEXT)
LAYOUTS: Final = "_layouts"

_SCHEMA = re.compile(r"v([1-9]\d{0,5})\.schema\.json")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_PARTIAL = re.compile(r"_[\w.-]+\.j2")
_EXAMPLE = re.compile(r"[\w.-]+\.json")


@dataclass(slots=True)
class Findings:
    """Collects what is wrong, so that the reader of it hears everything at once."""

    problems: list[Problem] = field(default_factory=list)

    def add(self, file: str, line: int, text: str) -> None:
        self.problems.append(Problem(file, line, text))


@dataclass(frozen=True, slots=True)
class Folder:
    """`files`: the bytes by name inside the folder. `lines`: of mail.toml's members."""

    name: str
    files: Mapping[str, bytes]
    declaration: Declaration
    lines: Mapping[tuple[str, ...], int]
    schemas: Mapping[int, Schema]

    @property
    def on(self) -> str:
        return self.declaration.on or self.name

    def line(self, *place: str | int) -> int:
        return line_of(dict(self.lines), place)

    @property
    def template_names(self) -> list[str]:
        """Return the names that templates call each other by."""
        return [f"{self.name}/{file}" for file in self.files if file.endswith(".j2")]

    def example_files(self) -> list[tuple[str, bytes]]:
        """Return (name without ".json", bytes), sorted."""
        inside = [(n, b) for n, b in self.files.items() if n.startswith("examples/")]
        return [(n.removeprefix("examples/").removesuffix(".json"), b) for n, b in sorted(inside)]


def read_files(folder: FilePath) -> dict[str, bytes]:
    """Return every file below, but for hidden ones, notes and editors' copies."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not left_over(file, folder)
    }


def text_of(content: bytes) -> str:
    """Decode a file, less the mark that Windows puts first. Raises `UnicodeDecodeError`."""
    return content.decode("utf-8-sig")


def left_over(file: FilePath, folder: FilePath) -> bool:
    """Tell what is passed over in a folder: hidden files, notes and editors' copies."""
    hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
    return hidden or file.name.endswith("~") or file.suffix == ".md"


def read_folder(path: FilePath, findings: Findings) -> Folder | None:
    """Read a folder; None if there is no use in looking further at it."""
    name = path.name
    if not _NAME.fullmatch(name):
        findings.add(name, 0, "a folder's name is letters, digits, dot, dash and _")
        return None
    return folder_of(name, read_files(path), findings)


def folder_of(name: str, files: Mapping[str, bytes], findings: Findings) -> Folder | None:
    """Make a folder of its files; None if there is no use in looking further at it."""
    declared = _declared(name, files, findings)
    hosted = declared is not None and bool(declared[0].template)
    _expect(name, files, (SUBJECT,) if hosted else PARTS, findings)
    check_variants(name, files, findings)
    schemas = dict(_schemas(name, files, findings))
    if declared is None:
        return None
    declaration, lines = declared
    return Folder(name, files, declaration, lines, schemas)


def _expect(
    name: str, files: Mapping[str, bytes], parts: Sequence[str], findings: Findings
) -> None:
    for part in parts:
        if part not in files:
            findings.add(f"{name}/{part}", 0, "is missing")
    for file in files:
        if not _belongs(file):
            findings.add(f"{name}/{file}", 0, "is not a file that a folder has: " + _HAS)
    if not any(file.startswith("examples/") for file in files):
        findings.add(f"{name}/examples", 0, "is empty: give at least one valid event")


NOT_UTF8: Final = "is not UTF-8: save it in that encoding"
_TOO_DEEP: Final = "is nested too deeply"
_HAS: Final = "those are mail.toml, v1.schema.json, subject.j2, body.html.j2, body.txt.j2, _*.j2, \
the same *.j2 below de/, and examples/*.json"


def _belongs(file: str) -> bool:
    if file.startswith("examples/"):
        return _EXAMPLE.fullmatch(file.removeprefix("examples/")) is not None
    if "/" in file:  # of a locale: looked at by itself
        return file.endswith(".j2")
    known = file == "mail.toml" or file in PARTS
    return known or bool(_SCHEMA.fullmatch(file) or _PARTIAL.fullmatch(file))


def check_variants(name: str, files: Collection[str], findings: Findings) -> None:
    """Check that each file in a folder below stands in for one of the folder's own, in a locale."""
    named = (file for file in files if "/" in file and not file.startswith("examples/"))
    below = [(file, *file.split("/", 1)) for file in named if file.endswith(".j2")]
    for locale in sorted({locale for _, locale, _ in below}):
        if (nearest := known_locale(locale)) != locale:
            advice = f"did you mean {nearest}/?" if nearest else "write de/, or de-AT/"
            findings.add(f"{name}/{locale}", 0, f"a folder is named after a locale: {advice}")
    for file, _, own in below:
        if own not in files and own not in PARTS:
            findings.add(f"{name}/{file}", 0, f"stands in for nothing: there is no {name}/{own}")


def _schemas(name: str, files: Mapping[str, bytes], findings: Findings) -> list[tuple[int, Schema]]:
    found = []
    for file, content in files.items():
        match = _SCHEMA.fullmatch(file)
        if match is None:
            continue
        try:
            document = json.loads(content)
            for text in unknown_words(document):
                findings.add(f"{name}/{file}", 0, text)
            found.append((int(match[1]), compile_schema(int(match[1]), file, document)))
        except json.JSONDecodeError as error:
            findings.add(f"{name}/{file}", error.lineno, f"not JSON: {error.msg}")
        except RecursionError:
            findings.add(f"{name}/{file}", 0, _TOO_DEEP)
        except ValueError as error:
            findings.add(f"{name}/{file}", 0, str(error))
    if not any(_SCHEMA.fullmatch(file) for file in files):
        findings.add(f"{name}/v1.schema.json", 0, "is missing")
    return found


def _declared(
    name: str, files: Mapping[str, bytes], findings: Findings
) -> tuple[Declaration, dict[tuple[str, ...], int]] | None:
    file = f"{name}/mail.toml"
    if "mail.toml" not in files:
        findings.add(file, 0, "is missing")
        return None
    try:
        text = text_of(files["mail.toml"])
        members = tomllib.loads(text)
    except UnicodeDecodeError:
        findings.add(file, 0, NOT_UTF8)
        return None
    except RecursionError:
        findings.add(file, 0, _TOO_DEEP)
        return None
    except tomllib.TOMLDecodeError as error:
        hint = next((hint for said, hint in _HINTS.items() if said in str(error)), "")
        findings.add(file, _toml_line(str(error)), f"not TOML: {error}{hint}")
        return None
    lines = lines_of(text)
    try:
        return Declaration.model_validate(members), lines
    except ValidationError as error:
        for wrong in error.errors(include_url=False, include_context=False, include_input=False):
            where = ".".join(map(str, wrong["loc"]))
            findings.add(file, line_of(lines, wrong["loc"]), f"{where}: {said(dict(wrong))}")
        return None


_HINTS: Final = {
    "Invalid value": "; texts stand in quotes",
    "Cannot overwrite a value": "; it is written twice",
}


def _toml_line(message: str) -> int:
    match = re.search(r"at line (\d+)", message)
    return int(match[1]) if match else 0


def digest(name: str, files: Mapping[str, bytes]) -> str:
    """Return SHA-256 over the names and contents of a folder's files and the layouts it uses."""
    total = hashlib.sha256(name.encode())
    for file, content in sorted(files.items()):
        total.update(hashlib.sha256(file.encode()).digest())
        total.update(hashlib.sha256(content).digest())
    return total.hexdigest()
