"""deploy/README.md says what is stored where, and for how long: of every column there is."""

from __future__ import annotations

import re
from pathlib import Path

from tests.integration.guard.everywhere import columns

README = Path(__file__).parents[3] / "deploy" / "README.md"


async def test_every_column_of_every_table_is_accounted_for(database: str) -> None:
    """Law: none is left out, none is made up, none is told of twice."""
    table = README.read_text().partition("| what | where | how long |\n")[2].partition("\n\n")[0]
    places = [line.split("|")[2] for line in table.splitlines()[1:]]
    told = [name for place in places for name in re.findall(r"`([\w.]+)`", place)]
    assert sorted(told) == sorted(f"{table}.{column}" for table, column in await columns(database))
