"""The document is an AsyncAPI 3.0 document, by the word of AsyncAPI's own parser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from consumer.contract import document, kinds
from consumer.contract.asyncapi import House
from tests.parts.node import run_module
from tests.unit.catalogue.shop import SCHEMA, open_shop, real_catalogue

PARSE = """
import { readFileSync } from "node:fs";
import { Parser } from "@asyncapi/parser";
const source = readFileSync(process.argv[2], "utf8");
const { document, diagnostics } = await new Parser().parse(source);
const operations = document?.operations().all().map(one => one.id()) ?? null;
console.log(JSON.stringify({ operations, diagnostics }));
"""
# That there is a version 3.1 by now is no fault of a document of 3.0.
ADVICE = {"asyncapi-latest-version"}

# What draft 07 says in other words, all in one schema.
SHAPES: dict[str, Any] = {
    **SCHEMA,
    "$defs": {"line": {"type": "object", "properties": {"next": {"$ref": "#/$defs/line"}}}},
    "properties": {
        **SCHEMA["properties"],
        "line": {"$ref": "#/$defs/line", "description": "The first of a chain."},
        "pair": {"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
        "extra": {"type": ["object", "null"], "unevaluatedProperties": False},
    },
    "dependentRequired": {"line": ["pair"]},
}


def parsed(npm: Path, folder: Path, whole: dict[str, Any]) -> dict[str, Any]:
    file = folder / "asyncapi.json"
    file.write_text(json.dumps(whole))
    found: dict[str, Any] = json.loads(run_module(npm, PARSE, str(file)))
    return found


def complaints(found: dict[str, Any]) -> list[str]:
    return [
        f"{one['code']} at {'/'.join(map(str, one['path']))}: {one['message']}"
        for one in found["diagnostics"]
        if one["code"] not in ADVICE
    ]


@pytest.mark.parametrize(
    "house", [House(), House(["kafka:9092"], encrypted=True, outcomes="email.outcomes")], ids=str
)
def test_the_shipped_catalogue_is_valid(npm: Path, tmp_path: Path, house: House) -> None:
    known = kinds(real_catalogue())
    found = parsed(npm, tmp_path, document(known, house))
    assert complaints(found) == []
    assert set(found["operations"]) == {"_outcome", *(kind.name for kind in known)}


def test_every_word_that_is_said_otherwise_is_valid(npm: Path, tmp_path: Path) -> None:
    shop = open_shop(tmp_path / "shop", {"note/v1.schema.json": json.dumps(SHAPES)})
    assert complaints(parsed(npm, tmp_path, document(kinds(shop), House()))) == []


def test_the_parser_would_say_what_is_wrong(npm: Path, tmp_path: Path) -> None:
    whole = document(kinds(open_shop(tmp_path / "shop")), House())
    whole["operations"]["note"]["channel"]["$ref"] = "#/channels/nowhere"
    assert any("channel" in one for one in complaints(parsed(npm, tmp_path, whole)))
