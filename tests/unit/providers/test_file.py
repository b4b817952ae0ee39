"""The file provider: one key, one whole file, for ever."""

from __future__ import annotations

import asyncio
import stat
from pathlib import Path

from consumer.model import Accepted, Blocked, Prepared, Rejected, TooLate
from consumer.providers import FileOptions, FileProvider
from tests.doubles.mails import KEY, lease, mail


async def opened(folder: Path) -> FileProvider:
    provider = FileProvider("outbox", FileOptions(path=folder))
    await provider.open()
    return provider


def prepared(provider: FileProvider, **changes: object) -> Prepared:
    ready = provider.prepare(mail(**changes))
    assert isinstance(ready, Prepared)
    return ready


def files(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_a_mail_becomes_one_file_named_by_its_key(tmp_path: Path) -> None:
    provider = await opened(tmp_path / "out")
    ready = prepared(provider)
    assert await provider.attempt(ready, lease()) == Accepted(f"{KEY}.eml")
    assert [each.name for each in files(tmp_path / "out")] == [f"{KEY}.eml"]
    assert (tmp_path / "out" / f"{KEY}.eml").read_bytes() == ready.body


async def test_folder_and_file_are_for_us_alone(tmp_path: Path) -> None:
    """Mails hold addresses and tokens."""
    provider = await opened(tmp_path / "out")
    await provider.attempt(prepared(provider), lease())
    assert [mode(tmp_path / "out"), *map(mode, files(tmp_path / "out"))] == [0o700, 0o600]


async def test_the_first_bytes_of_a_key_stay(tmp_path: Path) -> None:
    provider = await opened(tmp_path)
    first = prepared(provider)
    await provider.attempt(first, lease())
    other = prepared(provider, text="other")
    assert await provider.attempt(other, lease()) == Accepted(f"{KEY}.eml")
    assert (tmp_path / f"{KEY}.eml").read_bytes() == first.body


async def test_many_at_once_are_one(tmp_path: Path) -> None:
    provider = await opened(tmp_path)
    ready = prepared(provider)
    answers = await asyncio.gather(*(provider.attempt(ready, lease()) for _ in range(20)))
    assert set(answers) == {Accepted(f"{KEY}.eml")}
    assert len(files(tmp_path)) == 1


async def test_past_the_deadline_nothing_is_written(tmp_path: Path) -> None:
    provider = await opened(tmp_path)
    assert await provider.attempt(prepared(provider), lease(-1)) == TooLate()
    assert files(tmp_path) == []


async def test_a_folder_that_is_gone_stops_the_account(tmp_path: Path) -> None:
    provider = FileProvider("outbox", FileOptions(path=tmp_path / "gone"))
    assert isinstance(await provider.attempt(prepared(provider), lease()), Blocked)


async def test_a_key_that_leaves_the_folder_is_refused(tmp_path: Path) -> None:
    provider = await opened(tmp_path)
    assert isinstance(provider.prepare(mail(key="../evil")), Rejected)
