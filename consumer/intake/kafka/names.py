"""Record headers whose name is no UTF-8: the client's reader raises, for ever, at such a record.

One of them would stop its partition and end the process again and again. So a batch that cannot be
read the quick way is read once more, slowly, and those names come as Python writes undecodable
bytes (`surrogateescape`), which can be turned back into exactly the bytes that came.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from aiokafka.consumer import fetcher
from aiokafka.record.default_records import _DefaultRecordBatchPy
from aiokafka.record.memory_records import MemoryRecords

_LENGTH_AT: Final = 8  # after the base offset, a batch says how many bytes follow this field
_OVERHEAD: Final = 12


def tolerate_names() -> None:
    """Let every consumer of this process read such records. Leans on the client's internals."""
    fetcher.MemoryRecords = Records


class Records:
    """The batches of one fetch, in the client's own terms."""

    def __init__(self, raw: bytes) -> None:
        self._raw = memoryview(raw)
        self._quick: Any = MemoryRecords(raw)
        self._at = 0

    def has_next(self) -> bool:
        return bool(self._quick.has_next())

    def size_in_bytes(self) -> int:
        return int(self._quick.size_in_bytes())

    def next_batch(self) -> Batch:
        start = self._at
        length = int.from_bytes(self._raw[start + _LENGTH_AT : start + _OVERHEAD], "big")
        self._at = start + _OVERHEAD + length
        return Batch(self._quick.next_batch(), self._raw[start : self._at])


class Batch:
    """One batch: quick where that works."""

    def __init__(self, quick: Any, raw: memoryview) -> None:
        self._quick = quick
        self._raw = raw

    def __getattr__(self, name: str) -> Any:
        return getattr(self._quick, name)

    def __next__(self) -> Any:
        return next(self._quick)

    def __iter__(self) -> Iterator[Any]:
        try:
            return iter(list(self._quick))
        except UnicodeDecodeError:
            return iter(_Careful(bytearray(self._raw)))


class _Careful(_DefaultRecordBatchPy):  # type: ignore[misc] # aiokafka ships no types
    def _maybe_uncompress(self) -> None:
        super()._maybe_uncompress()
        self._buffer: bytearray = _Bytes(self._buffer)


class _Bytes(bytearray):
    def __getitem__(self, at: Any) -> Any:
        part = super().__getitem__(at)
        return _Text(part) if isinstance(at, slice) else part


class _Text(bytes):
    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:  # noqa: ARG002 - as the client calls it
        return super().decode(encoding, "surrogateescape")
