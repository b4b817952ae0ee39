"""The preview behind `sendonce render --watch`: on this machine only, until Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from consumer.admin import CannotListenError, Listener
from consumer.catalogue import Catalogue, CatalogueError
from consumer.cli import printing
from consumer.cli.app import StopError
from consumer.cli.catalogues import catalogue_folder, open_catalogue
from consumer.cli.events import ReadEvent, readings, why_not
from consumer.model import Bad, Mail, Message
from consumer.pages.preview import Preview
from consumer.pages.proofs import Proof
from consumer.settings import SettingsError

HOST: Final = "127.0.0.1"
PORT: Final = 8090
_CLOSING: Final = 0.2  # seconds for pages that wait for news


def watch(
    named: str | None,
    port: int,
    config: Path,
    alone: Path | None,
    read: Callable[[Catalogue, str], Sequence[ReadEvent]] = readings,
) -> None:
    """Serve a page of all examples, or of the events of `named`, until somebody stops it."""

    def load() -> Sequence[Proof]:
        try:
            catalogue = open_catalogue(config, alone)
            names = [named] if named else sorted(catalogue.types)
            events = [reading for name in names for reading in read(catalogue, name)]
            return [_proof(catalogue, reading) for reading in events]
        except StopError as stop:  # ends a command; here it is one more thing to mend
            raise ValueError(stop.message) from None

    if named and not os.path.exists(named):  # noqa: PTH110 - Path's own raises for too long names
        with suppress(CatalogueError, SettingsError):  # being written: the page says what is wrong
            read(open_catalogue(config, alone), named)  # what names nothing ends it here
    preview = Preview(lambda: _roots(config, alone, named), load)
    try:
        asyncio.run(_serve(preview, port))
    except CannotListenError:
        raise StopError(f"port {port} of {HOST} is taken; name another with --port") from None


async def _serve(preview: Preview, port: int) -> None:
    listener = Listener(preview.app(), "preview", HOST, port, closing=_CLOSING)
    await listener.start()
    try:
        printing.say(f"http://{HOST}:{listener.port}/  (Ctrl-C ends it)")
        sys.stdout.flush()  # whoever reads it through a pipe wants it now
        await _until_signalled(preview.watch())
    finally:
        await listener.close()


async def _until_signalled(work: Coroutine[Any, Any, None]) -> None:
    """Also where a shell started us in the background, and Ctrl-C's signal would be ignored."""
    working = asyncio.ensure_future(work)
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, working.cancel)
    with suppress(asyncio.CancelledError):
        await working


def _roots(config: Path, alone: Path | None, named: str | None) -> list[Path]:
    folder = alone or Path("schemas")
    with suppress(SettingsError):
        folder = catalogue_folder(config, alone)
    return [folder, config, *([Path(named)] if named else [])]


def _proof(catalogue: Catalogue, reading: ReadEvent) -> Proof:
    return Proof(reading.place.removesuffix(":1"), _printed(catalogue, reading))


def _printed(catalogue: Catalogue, reading: ReadEvent) -> Message | str:
    if not isinstance(reading.mail, Mail):
        return why_not(reading.mail)
    message = catalogue.render(reading.mail)
    return why_not(message) if isinstance(message, Bad) else message
