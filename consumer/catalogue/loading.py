"""Folders to a catalogue, or every reason why not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from consumer.catalogue.catalogue import Catalogue, TopicRule
from consumer.model import Address, Bad, Event, Record, Skipped


def load(
    path: Path,
    *,
    senders: Mapping[str, Address],
    providers: Collection[str],
    retention: float,
    fingerprint_key: bytes | None,
    decode: Callable[[Record], Event | Skipped | Bad],
    topics: Mapping[str, TopicRule] | None = None,
) -> Catalogue:
    """Read and check every folder below `path`; raise `CatalogueErrors` with all problems.

    `retention` in seconds. `decode` reads the examples as a record would be read.
    """
    raise NotImplementedError
