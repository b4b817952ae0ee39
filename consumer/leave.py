"""Leave to go: a way out and its permit, and the files that go along.

    no files    permit
    files       permit, shown and given back ─▶ fetched ─▶ permit, unless shut by now

Files are fetched for each attempt anew, before it may start: nobody holds a permit, or a place
among what is in hand, while a slow file server is asked, which would keep mails without files; and
nobody holds megabytes while a provider is shut, or between two attempts. Their digests say that
they are the same.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, assert_never

from consumer.hand import Departure
from consumer.model import Prepared, Rejected
from consumer.providers.fetching import Fetched, Unfetched

if TYPE_CHECKING:
    from consumer.intake.hold import Hold
    from consumer.model import MailType, Message
    from consumer.providers import Provider
    from consumer.providers.fetching import Fetcher, Files
    from consumer.providers.permits import Permit
    from consumer.routes import Route, Routes

NO_BYTES: Final = bytes(32)  # stands as the hash of an attempt that had nothing to send


@dataclass(frozen=True, slots=True)
class Leave:
    route: Route
    permit: Permit
    files: Files | None = None

    def departure(self, message: Message) -> Departure | Rejected:
        """Make ready to go. Without its files, a mail departs for an attempt that sends nothing."""
        ready = prepared_with(self.files, self.route.provider, message)
        if isinstance(ready, Rejected):
            return ready
        return Departure(self.route, self.permit, ready, self.files)

    def give_back(self) -> None:
        """Once all is over, whatever it came to: what was used is given back already."""
        self.permit.give_back()
        if self.files is not None:
            self.files.give_back()


def prepared_with(files: Files | None, provider: Provider, message: Message) -> Prepared | Rejected:
    match files:
        case None:
            return provider.prepare(message)
        case Fetched():
            return provider.prepare(message, files.hand_over())
        case Unfetched():
            return Prepared(message, b"", NO_BYTES)
        case _:
            assert_never(files)


@dataclass(slots=True)
class Rehearsal:
    """Departures of which nothing comes, for who foretells them.

    `seconds`: how long files are waited for, of all mails together.
    """

    fetcher: Fetcher
    seconds: float = math.inf

    async def of(
        self, provider: Provider, message: Message
    ) -> Prepared | Rejected | Unfetched | None:
        """Fetch and prepare; None: whether its files can be had was not looked for any more."""
        if not message.attachments:
            return provider.prepare(message)
        if self.seconds <= 0:
            return None
        began = time.monotonic()
        files = await self.fetcher.fetch(message.attachments)
        self.seconds -= time.monotonic() - began
        try:
            return (
                files if isinstance(files, Unfetched) else prepared_with(files, provider, message)
            )
        finally:
            files.give_back()


@dataclass(frozen=True, slots=True)
class Leaves:
    """Where leave is asked for. `first`: the place in the type's list of the provider to prefer."""

    routes: Routes
    fetcher: Fetcher

    async def take(
        self, mail_type: MailType, message: Message, hold: Hold, first: int = 0
    ) -> Leave:
        """Wait until some provider of the type may be asked, and the files are at hand."""
        while True:
            route, permit = await self.routes.permit(mail_type, hold, first)
            if not message.attachments:
                return Leave(route, permit)
            permit.give_back()
            leave = await self._with_files(mail_type, message, hold, first)
            if leave is not None:
                return leave

    async def take_unless_shut(
        self, mail_type: MailType, message: Message, hold: Hold
    ) -> Leave | None:
        """Like `take`, but None where every provider is shut: for who can come again."""
        found = await self.routes.permit_unless_shut(mail_type)
        if found is None or not message.attachments:
            return None if found is None else Leave(*found)
        found[1].give_back()
        return await self._with_files(mail_type, message, hold, 0)

    async def _with_files(
        self, mail_type: MailType, message: Message, hold: Hold, first: int
    ) -> Leave | None:
        with hold.standing():
            files = await self.fetcher.fetch(message.attachments)
        found = None
        try:
            found = await self.routes.permit_unless_shut(mail_type, first)
        finally:
            if found is None:
                files.give_back()
        return None if found is None else Leave(*found, files)
