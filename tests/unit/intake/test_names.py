"""A header whose name is no UTF-8 costs neither its record nor its neighbours."""

from __future__ import annotations

from typing import Any

import pytest
from aiokafka.record.default_records import _DefaultRecordBatchBuilderPy

from consumer.intake.kafka.names import Records

GZIP = 1


class Odd(str):
    """A name as another language's producer may write it."""

    __slots__ = ()

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        return b"\xffname"


def batch(first: int, names: list[str], compression: int = 0) -> bytes:
    builder: Any = _DefaultRecordBatchBuilderPy(
        magic=2, compression_type=compression, is_transactional=False, producer_id=-1,
        producer_epoch=-1, base_sequence=-1, batch_size=1 << 20,
    )  # fmt: skip
    for offset, name in enumerate(names):
        builder.append(offset, timestamp=7, key=b"k", value=b"v%d" % offset, headers=[(name, b"h")])
    made = bytes(builder.build())
    return first.to_bytes(8, "big") + made[8:]


@pytest.mark.parametrize("compression", [0, GZIP])
def test_its_name_can_be_turned_back_into_its_bytes(compression: int) -> None:
    raw = batch(5, ["a", Odd("b"), "ü"], compression)
    records = Records(raw)
    [found] = [list(records.next_batch())]
    assert not records.has_next()
    assert [record.offset for record in found] == [5, 6, 7]
    assert [record.value for record in found] == [b"v0", b"v1", b"v2"]
    names = [name.encode("utf-8", "surrogateescape") for r in found for name, _ in r.headers]
    assert names == [b"a", b"\xffname", "ü".encode()]


def test_each_batch_of_a_fetch_is_read_by_itself() -> None:
    raw = batch(0, ["a"]) + batch(1, [Odd("b")]) + batch(2, ["c"]) + batch(3, ["d"])[:40]
    records, found = Records(raw), []
    while records.has_next():
        one = records.next_batch()
        assert one.validate_crc()
        found += [(record.offset, record.value) for record in one]
    assert found == [(0, b"v0"), (1, b"v0"), (2, b"v0")]
    assert records.size_in_bytes() == len(raw)
