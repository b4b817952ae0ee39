"""Laws of the preview: it reloads when a file changes, and no mistake ends it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import aiohttp
import pytest

from consumer.admin import Listener
from consumer.model import Message
from consumer.pages.preview import Preview
from consumer.pages.proofs import Proof
from tests.unit.catalogue.shop import message_of, note, open_shop

PATIENCE = 10.0


@dataclass
class Site:
    """A preview that is served; `proofs` is what the next load brings."""

    url: str = ""
    proofs: Sequence[Proof] = ()
    wrong: Exception | None = None
    loads: list[None] = field(default_factory=list)

    def load(self) -> Sequence[Proof]:
        self.loads.append(None)
        if self.wrong is not None:
            raise self.wrong
        return self.proofs

    async def get(self, path: str, **headers: str) -> tuple[int, str]:
        url = self.url + path
        async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
            return answer.status, await answer.text()


@asynccontextmanager
async def served(site: Site, root: Path) -> AsyncIterator[Callable[[], asyncio.Future[bytes]]]:
    """Serve; yield what touches a file and waits for the page to be told."""
    preview = Preview(lambda: [root], site.load, look=0.01)
    listener = Listener(preview.app(), "preview", "127.0.0.1", 0, closing=0.1)
    await listener.start()
    site.url = f"http://127.0.0.1:{listener.port}"
    watching = asyncio.create_task(preview.watch())
    try:
        async with aiohttp.ClientSession() as session:
            await _told(session, site.url, preview.edition.name)  # the first load is a change

            async def changed() -> bytes:
                known = preview.edition.name
                (root / "file").write_text(known)
                return await _told(session, site.url, known)

            yield lambda: asyncio.ensure_future(changed())
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        await listener.close()


async def _told(session: aiohttp.ClientSession, url: str, edition: str) -> bytes:
    async with asyncio.timeout(PATIENCE), session.get(f"{url}/changes?edition={edition}") as news:
        assert news.content_type == "text/event-stream"
        return await news.content.readline()


@pytest.fixture
def mails(tmp_path: Path) -> list[Proof]:
    catalogue = open_shop(tmp_path / "shop")
    return [Proof(f"note/{n}", message_of(catalogue, note(name=n))) for n in ("Ada", "Bob")]


async def test_a_page_is_told_when_a_file_changes(tmp_path: Path, mails: list[Proof]) -> None:
    site = Site(proofs=mails[:1])
    async with served(site, tmp_path) as change:
        assert "Hello Ada" in (await site.get("/"))[1]
        site.proofs = mails[1:]
        assert await change() == b"data: changed\n"
        assert "Hello Bob" in (await site.get("/"))[1]


async def test_a_page_that_is_old_already_is_told_at_once(
    tmp_path: Path, mails: list[Proof]
) -> None:
    """Between its loading and its asking, or over a restart, an edition may have passed."""
    site = Site(proofs=mails)
    async with served(site, tmp_path), aiohttp.ClientSession() as session:
        assert await _told(session, site.url, "of another day") == b"data: changed\n"


async def test_a_mistake_is_shown_above_the_mail_as_it_was(
    tmp_path: Path, mails: list[Proof]
) -> None:
    site = Site(proofs=mails)
    async with served(site, tmp_path) as change:
        site.wrong = ValueError("note/mail.toml:3: <unknown>")
        await change()
        status, page = await site.get("/")
        assert status == 200
        assert "note/mail.toml:3: &lt;unknown&gt;" in page
        assert "Hello Ada" in page
        site.wrong = None
        await change()
        assert "unknown" not in (await site.get("/"))[1]


async def test_an_event_without_a_mail_says_why(tmp_path: Path, mails: list[Proof]) -> None:
    site = Site(proofs=[*mails, Proof("event.json:2", "dead letter invalid: /id: is absent")])
    async with served(site, tmp_path):
        assert "/id: is absent" in (await site.get("/?mail=event.json:2"))[1]


async def test_nothing_to_show_is_a_page_too(tmp_path: Path) -> None:
    site = Site()
    async with served(site, tmp_path):
        assert "No example makes a mail yet" in (await site.get("/"))[1]


async def test_each_mail_is_shown_narrow_and_wide_light_and_dark(
    tmp_path: Path, mails: list[Proof]
) -> None:
    site = Site(proofs=mails)
    async with served(site, tmp_path):
        _, page = await site.get("/?mail=note/Bob&dark")
        for said in ("375 px", "800 px", "Hello Bob", "Dear Bob", "Message-ID", "Light screen"):
            assert said in page
        assert page.count('sandbox=""') == 2


async def test_a_mail_of_the_providers_own_template_shows_what_that_is_given(
    tmp_path: Path, mails: list[Proof]
) -> None:
    assert isinstance(mails[0].mail, Message)
    hosted = replace(mails[0].mail, text="", html="", templates={"p": "t-1"}, model={"x": "y"})
    site = Site(proofs=[Proof("note/hosted", hosted)])
    async with served(site, tmp_path):
        _, page = await site.get("/")
        assert "p: t-1" in page
        assert "<iframe" not in page


async def test_only_this_machine_is_answered(tmp_path: Path) -> None:
    """A page of elsewhere whose name leads here would read the mails through the browser."""
    site = Site()
    async with served(site, tmp_path):
        assert (await site.get("/", Host="evil.example:80"))[0] == 403
        assert (await site.get("/", Host="localhost:80"))[0] == 200
