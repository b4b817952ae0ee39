"""Files that the demo (and the benchmark) write: a configuration, and mail types set otherwise."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path


def declare(declaration: Path, **values: object) -> None:
    """Set names at the top of a `mail.toml`, in place of what stood there."""
    text = declaration.read_text()
    for name, value in values.items():
        rest = re.sub(rf"^{name} *=.*\n", "", text, count=1, flags=re.MULTILINE)
        text = f"{name} = {json.dumps(value)}\n{rest}"
    declaration.write_text(text)


def toml(sections: Mapping[str, Mapping[str, object]]) -> str:
    """Write sections of plain values: TOML's strings, numbers, truths and lists are JSON's."""
    return "\n".join(_section(name, values) for name, values in sections.items())


def _section(name: str, values: Mapping[str, object]) -> str:
    return "\n".join([f"[{name}]", *(f"{key} = {json.dumps(v)}" for key, v in values.items()), ""])
