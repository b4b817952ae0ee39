"""The decode list as records: what each is, and what has to become of it.

Whatever could tell on a person (address, words of the body, key, header values) holds the canary,
so that a log, a metric or an outcome that lets one out is found by searching for it.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

from consumer.keys import send_key
from consumer.model import Reason, SkipRule
from tests.whole.shapes import address, data, event, key_of, plain, text

BY_TOPIC = "order.by-topic"  # a folder that listens to the type that is the topic's own name
MEGABYTES = 10 << 20
DAY = 24 * 3600

Headers = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True)
class Case:
    """`becomes`: a dead letter's reason, a rule that skips, or the key of a mail that is sent."""

    name: str
    value: bytes | None
    becomes: Reason | SkipRule | str
    detail: str = ""  # what a dead letter's detail says, in part
    headers: Headers = (("trace", b"canary-header"),)
    key: bytes | None = b"canary-key"
    age: float = 0.0  # seconds of the record's timestamp before now
    timestamp: int | None = None  # milliseconds, in place of an age


def _sent(name: str, value: bytes, headers: Headers = (), **how: Any) -> Case:
    return Case(name, value, key_of(name), headers=headers, **how)


def _bad(name: str, value: bytes, reason: Reason, detail: str, **how: Any) -> Case:
    return Case(name, value, reason, detail, **how)


def _swapped(name: str, old: str, new: str) -> bytes:
    """Return the event of this name with a piece of its text replaced: what no encoder writes."""
    whole = text(event(name)).decode()
    assert old in whole
    return whole.replace(old, new, 1).encode("utf-8", "surrogatepass")


def _to(name: str, recipient: Any) -> bytes:
    return text(event(name, data=data(f"id-{name}", recipient)))


def without_type(name: str) -> bytes:
    members = plain(name)
    del members["type"]
    return text(members)


_BINARY: Headers = (
    ("ce_specversion", b"1.0"),
    ("ce_id", b"1"),
    ("ce_source", b"/shop"),
    ("ce_type", b"order.receipt"),
)
_HUGE = 327267367867168100000
_CARRIED = send_key("order.receipt", "of the producer", "anybody@example.com")


# ── Read, and sent


def good() -> list[Case]:
    inner = base64.b64encode(text(data("id-base64", address("base64")))).decode()
    exact = data(_HUGE, address("exact integer"))
    odd: Headers = (("trace", None), ("x", b"\x9c"), ("x", b"other"), ("X", b"\xff"), ("", b""))
    return [
        _sent("type by header", without_type("type by header"), (("type", b"order.receipt"),)),
        _sent("type by member", text(plain("type by member"))),
        _sent("header type wins", text(plain("header type wins", type="order.viewed")),
              (("type", b"order.receipt"),)),
        _sent("structured", text(event("structured"))),
        _sent("binary", without_type("binary"), _BINARY),
        _sent("base64", text(event("base64", data=None, data_base64=inner))),
        Case("exact integer", text(event("exact integer", data=exact)),
             key_of("exact integer", _HUGE)),
        _sent("connect envelope", text({"schema": {}, "payload": plain("connect envelope")})),
        _sent("byte order mark", b"\xef\xbb\xbf" + text(event("byte order mark"))),
        _sent("emoji as escapes", json.dumps(event("emoji as escapes", subject="🎈")).encode()),
        _sent("key that is no text", text(event("key that is no text")), key=b"\x83\x00"),
        _sent("no key", text(event("no key")), key=None),
        _sent("odd headers", text(event("odd headers")), odd),
        _sent("300 headers", text(event("300 headers")),
              tuple((f"h{n}", b"\x00\xff") for n in range(300))),
        _sent("large header", text(event("large header")), (("h", b"\0" * 900_000),)),
        _sent("null type header", text(event("null type header")), (("type", None),)),
        Case("carried key", text(event("carried key")), _CARRIED,
             headers=(("sendonce-key", _CARRIED.encode()),)),
        Case("carried id", text(event("carried id")), key_of("carried id", "their:id/7"),
             headers=(("idempotency-key", b"their:id/7"),)),
        Case("type by topic", without_type("type by topic"), send_key(
             BY_TOPIC, "id-type by topic", address("type by topic"))),
        _sent("six days old", text(event("six days old")), age=6 * DAY),
    ]  # fmt: skip


# ── Skipped by a written rule


def skipped() -> list[Case]:
    return [
        Case("tombstone", None, SkipRule.TOMBSTONE),
        Case("tombstone of an empty key", None, SkipRule.TOMBSTONE, headers=(), key=b""),
        Case("too old", text(event("too old")), SkipRule.TOO_OLD, age=8 * DAY),
        Case("ignored", text(event("ignored", type="order.viewed")), SkipRule.IGNORED),
    ]


# ── Dead letters


def unreadable() -> list[Case]:
    malformed = [
        ("empty", b"", "value is empty"),
        ("null", b"null", "not an object"),
        ("array", b"[]", "not an object"),
        ("text", b'"canary"', "not an object"),
        ("truncated", text(event("truncated"))[:-40], "is not JSON (character"),
        ("not UTF-8", _swapped("not UTF-8", "Merino", "M\udcff"), "is not UTF-8 (byte"),
        ("UTF-16", text(event("UTF-16")).decode().encode("utf-16"), "UTF-16"),
        ("two marks", b"\xef\xbb\xbf\xef\xbb\xbf{}", "is not JSON"),
        ("NaN", _swapped("NaN", "9490", "NaN"), "value.data.order.total is NaN"),
        ("minus infinity", _swapped("minus infinity", "9490", "-Infinity"), "NaN or Infinity"),
        ("1e400", _swapped("1e400", "9490", "1e400"), "beyond the range of a double"),
        ("5000 digits", _swapped("5000 digits", "9490", "9" * 5000), "more than 1000 digits"),
        ("twice", _swapped("twice", '"email":', '"email": "a@example.com", "email":'),
         "value.data.customer has the member email twice"),
        ("twice by escape",
         _swapped("twice by escape", '"email":', '"\\u0065mail": "a@example.com", "email":'),
         "value.data.customer has the member email twice"),
        ("NUL", _swapped("NUL", "Merino", "M\\u0000"), "holds a NUL character"),
        ("lone surrogate", _swapped("lone surrogate", "Merino", "M\\ud800"), "a lone surrogate"),
        ("nesting bomb", b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested deeper than"),
        ("brackets", b"[" * 500_000, "nested deeper than"),
        ("10 MB", text(event("10 MB", extra="x" * MEGABYTES)), "is longer than 1048576 bytes"),
    ]  # fmt: skip
    foreign = [
        ("magic byte", b"\x00\x00\x00\x00\x2a" + text(plain("magic byte")), "Confluent"),
        ("string in a string", json.dumps(text(event("in")).decode()).encode(), "JSON string"),
        ("change event", text({"before": None, "after": {}, "op": "c"}), "Debezium"),
        ("specversion 2", text(event("specversion 2", specversion="2.0")), "is not 1.0"),
    ]
    return [
        *(_bad(name, value, Reason.MALFORMED, detail) for name, value, detail in malformed),
        *(_bad(name, value, Reason.UNSUPPORTED_FORMAT, detail) for name, value, detail in foreign),
    ]


def no_mail() -> list[Case]:
    """Readable events that no mail can come of."""
    invalid = [
        ("schema", text(event("schema", data=data("id-schema", address("x"), total="canary"))),
         "/order/total"),
        ("no data", text(event("no data", data=None)), "v1.schema.json"),
        ("currency", text(event("currency", data=data("c", address("c"), currency="eur"))),
         "/order/currency"),
        ("two recipients", _to("two recipients", "canary@example.com,b@example.com"),
         "/customer/email"),
        ("quoted local part", _to("quoted", '"canary@evil.example x"@shop.example'),
         "/customer/email"),
        ("angle brackets", _to("angle brackets", "Canary <canary@example.com>"), "/customer/email"),
        ("comment", _to("comment", "canary(a)@example.com"), "/customer/email"),
        ("space inside", _to("space inside", "canary @example.com"), "/customer/email"),
        ("zero width space", _to("zero width", "canary\u200b@example.com"), "/customer/email"),
        ("list of recipients", _to("list", ["canary@example.com"]), "/customer/email"),
        ("line break in the subject",
         text(event("line", data=data("id-line", address("line"), number="canary\r\nBcc: x"))),
         "control character in the subject"),
    ]  # fmt: skip
    times = [
        ("future", event("future", time="2099-01-01T00:00:00Z"), "ahead"),
        ("before 2000", event("before 2000", time="1999-12-31T23:59:59Z"), "before the year 2000"),
        ("no offset", event("no offset", time="2026-01-01T00:00:00"), "RFC 3339"),
    ]
    other = [
        _bad("unknown type", text(event("unknown type", type="order.lost")),
             Reason.UNKNOWN_TYPE, "no folder"),
        _bad("unknown version", text(event("unknown version", dataschema="https://x/v9")),
             Reason.UNKNOWN_VERSION, "none of: 1"),
        _bad("time zero", text(event("time zero")), Reason.BAD_TIME, "2000", timestamp=0),
        _bad("time of no calendar", text(event("time of no calendar")), Reason.BAD_TIME,
             "timestamp", timestamp=-(10**15)),
    ]  # fmt: skip
    return [
        *(_bad(name, value, Reason.INVALID, detail) for name, value, detail in invalid),
        *(_bad(name, text(value), Reason.BAD_TIME, detail) for name, value, detail in times),
        *other,
    ]


def bad_headers() -> list[Case]:
    headers: list[tuple[str, Headers, str]] = [
        ("key too short", (("sendonce-key", b"canary"),), "header sendonce-key is not 48"),
        ("key upper case", (("sendonce-key", b"A" * 48),), "header sendonce-key is not 48"),
        ("null key", (("sendonce-key", None),), "header sendonce-key is null"),
        ("empty id", (("idempotency-key", b""),), "header idempotency-key is not 1 to 255"),
        ("id of spaces", (("idempotency-key", b"a canary"),), "header idempotency-key is not 1"),
        ("long id", (("idempotency-key", b"c" * 256),), "header idempotency-key is not 1"),
        ("id no text", (("idempotency-key", b"\xff"),), "header idempotency-key is null, not"),
        ("two ids", (("idempotency-key", b"a"), ("Idempotency-Key", b"b")), "stands twice"),
        ("type no text", (("type", b"\x9c"),), "header type is null, not UTF-8"),
        ("other type", (("type", b"order.viewed"),), "header type and the CloudEvents"),
        ("both modes", (("ce_type", b"order.viewed"),), "header ce_* and the body's"),
    ]
    return [
        _bad(name, text(event(name)), Reason.MALFORMED, detail, headers=given)
        for name, given, detail in headers
    ]


def all_cases() -> list[Case]:
    return [*good(), *skipped(), *unreadable(), *no_mail(), *bad_headers()]
