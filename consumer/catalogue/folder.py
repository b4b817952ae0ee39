"""A folder of the catalogue as it lies on disk, read but not yet believed."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Final

from pydantic import ValidationError

from consumer.catalogue.declaration import Declaration, said
from consumer.catalogue.errors import Problem
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

    def example_files(self) -> list[tuple[str, bytes]]:
        """Return (name without ".json", bytes), sorted."""
        inside = [(n, b) for n, b in self.files.items() if n.startswith("examples/")]
        return [(n.removeprefix("examples/").removesuffix(".json"), b) for n, b in sorted(inside)]


def read_files(folder: FilePath) -> dict[str, bytes]:
    """Return every file below, but for hidden ones, notes and editors' copies."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not _left_over(file.relative_to(folder))
    }


def _left_over(file: FilePath) -> bool:
    hidden = any(part.startswith(".") for part in file.parts)
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
    _expect(name, files, findings)
    schemas = dict(_schemas(name, files, findings))
    declared = _declared(name, files, findings)
    if declared is None:
        return None
    declaration, lines = declared
    return Folder(name, files, declaration, lines, schemas)


def _expect(name: str, files: Mapping[str, bytes], findings: Findings) -> None:
    for part in PARTS:
        if part not in files:
            findings.add(f"{name}/{part}", 0, "is missing")
    for file in files:
        if not _belongs(file):
            findings.add(f"{name}/{file}", 0, "is not a file that a folder has; " + _HAS)
    if not any(file.startswith("examples/") for file in files):
        findings.add(f"{name}/examples", 0, "is empty: give at least one valid event")


_HAS: Final = "see the list in schemas/README.md"


def _belongs(file: str) -> bool:
    if file.startswith("examples/"):
        return _EXAMPLE.fullmatch(file.removeprefix("examples/")) is not None
    known = file == "mail.toml" or file in PARTS
    return known or bool(_SCHEMA.fullmatch(file) or _PARTIAL.fullmatch(file))


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
        text = files["mail.toml"].decode()
        members = tomllib.loads(text)
    except UnicodeDecodeError:
        findings.add(file, 0, "is not UTF-8")
        return None
    except tomllib.TOMLDecodeError as error:
        findings.add(file, _toml_line(str(error)), f"not TOML: {error}")
        return None
    lines = lines_of(text)
    try:
        return Declaration.model_validate(members), lines
    except ValidationError as error:
        for wrong in error.errors(include_url=False, include_context=False, include_input=False):
            where = ".".join(map(str, wrong["loc"]))
            findings.add(file, line_of(lines, wrong["loc"]), f"{where}: {said(dict(wrong))}")
        return None


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
