from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.settings.configurations import Loader


@pytest.fixture
def settings(tmp_path: Path) -> Loader:
    return Loader(tmp_path)
