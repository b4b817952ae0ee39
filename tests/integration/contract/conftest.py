"""Node, once a session, or a skip that says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.parts.node import NoNodeError, node_packages


@pytest.fixture(scope="session")
def npm() -> Path:
    """Return a folder with the packages of tests/npm."""
    try:
        return node_packages()
    except NoNodeError as why:
        pytest.skip(f"no packages from npm: {why}")
