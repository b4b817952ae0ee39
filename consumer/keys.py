r"""The idempotency key: what makes two events the same mail.

    material   version ":" mail type ":" entity id ":" recipient
    key        the first 48 hex characters of SHA-256 over the material in UTF-8

* A part is a non-empty string or an integer; `5` and `"5"` are the same part. An entity id may be
  a list of parts (tenant and order); a list of one is that one.
* `\` and `:` inside a part are written `\\` and `\:`, so no two lists of parts share a material.
* ASCII letters are lower-cased and no others are: case rules of other alphabets make strangers
  equal (KELVIN SIGN and k, dotless i and I). `case_sensitive_entity` leaves the entity id alone.
* A recipient that is an address is taken in its canonical form, any other text as it is, trimmed.
* Nothing is normalised: a composed and a decomposed accent are two ids.

These rules never change. Known answers for other implementations stand beside the tests, in
`tests/unit/vectors/send_key.json`.
"""

from __future__ import annotations

import hashlib
import re
import string
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import idna

KEY_LENGTH = 48  # hex characters kept of the SHA-256; 192 bits
RESENT = "resend"  # begins version names of mails that a person had made again; no mail.toml's
MAX_PART = 1_000  # characters; ids are short, and the material is printed by `sendonce key`

MAX_LOCAL = 64  # octets, RFC 5321 section 4.5.3.1.1
MAX_ADDRESS = 254  # octets, RFC 5321 section 4.5.3.1.3 less the angle brackets
_KEY = re.compile(rf"[0-9a-f]{{{KEY_LENGTH}}}")
_WHITE = string.whitespace
_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


class KeyPartError(ValueError):
    """A part that no key can be made of. `part` names it; the text holds no value."""

    def __init__(self, part: str, problem: str) -> None:
        super().__init__(f"{part} {problem}")
        self.part = part


class AddressError(ValueError):
    """Not one strict, unquoted address. The text says why and does not repeat it."""


# ── The key


def send_key(
    mail_type: str,
    entity_id: str | int | Sequence[str | int],
    recipient: str,
    version: str = "v1",
    *,
    case_sensitive_entity: bool = False,
) -> str:
    """Return the 48 hex characters that stand for one mail, for ever. Raises `KeyPartError`."""
    material = key_material(
        mail_type, entity_id, recipient, version, case_sensitive_entity=case_sensitive_entity
    )
    return hashlib.sha256(material.encode()).hexdigest()[:KEY_LENGTH]


def key_material(
    mail_type: str,
    entity_id: str | int | Sequence[str | int],
    recipient: str,
    version: str = "v1",
    *,
    case_sensitive_entity: bool = False,
) -> str:
    """Return the text that `send_key` hashes. It holds the address: print it, never log it."""
    entity = ":".join(_entity_parts(entity_id))
    return ":".join(
        (
            fold(_escape(_text("version", version))),
            fold(_escape(_text("mail_type", mail_type))),
            entity if case_sensitive_entity else fold(entity),
            fold(_escape(_recipient_part(recipient))),
        )
    )


def is_key(text: str) -> bool:
    """Tell whether this text has the form of a key."""
    return _KEY.fullmatch(text) is not None


def _entity_parts(entity_id: object) -> list[str]:
    if not isinstance(entity_id, list | tuple):
        return [_escape(_part("entity_id", entity_id))]
    if not entity_id:
        raise KeyPartError("entity_id", "is an empty list")
    return [_escape(_part(f"entity_id[{i}]", part)) for i, part in enumerate(entity_id)]


def _recipient_part(recipient: str) -> str:
    text = _text("recipient", recipient).strip(_WHITE)
    try:
        return canonical_recipient(text)
    except AddressError:
        return _text("recipient", text)


def _part(name: str, value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return _number(name, value)
    return _text(name, value)


def _number(name: str, value: int) -> str:
    if value.bit_length() > MAX_PART * 4:  # 3.3 bits a digit; Python refuses to print far longer
        raise KeyPartError(name, _TOO_LONG)
    return _text(name, str(int(value)))


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise KeyPartError(name, f"is a {type(value).__name__}, not a string or an integer")
    if problem := _text_problem(value):
        raise KeyPartError(name, problem)
    return value


_TOO_LONG = f"is longer than {MAX_PART} characters"


def _text_problem(value: str) -> str | None:
    if not value:
        return "is empty"
    if len(value) > MAX_PART:
        return _TOO_LONG
    if "\0" in value:
        return "holds a NUL character"
    return None if value.isascii() or _encodable(value) else "holds a lone surrogate"


def _encodable(value: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in value)


def _escape(part: str) -> str:
    return part.replace("\\", "\\\\").replace(":", "\\:")


def fold(text: str) -> str:
    """Put ASCII letters into lower case, and no others."""
    return text.lower() if text.isascii() else text.translate(_ASCII_LOWER)


# ── The recipient

# RFC 5322 dot-atom, less "%" and "!", by which old relays route elsewhere. The domain is a host
# name with a top level that is no number, no label of it in punycode (those are checked slowly).
_ATOM = r"[A-Za-z0-9#$&'*+/=?^_`{|}~-]+"
_LABEL = r"(?!-|[xX][nN]--)[A-Za-z0-9-]{1,63}(?<!-)"
_TOP = r"(?!-|[0-9]+\Z|[xX][nN]--)[A-Za-z0-9-]{1,63}(?<!-)"
_PLAIN = re.compile(rf"({_ATOM}(?:\.{_ATOM})*)@((?:{_LABEL}\.)+{_TOP})")
_ATEXT = frozenset(string.ascii_letters + string.digits + "#$&'*+/=?^_`{|}~-.")
# Printed as nothing, though Unicode counts them as letters, marks and symbols.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_VISIBLE = frozenset("LMNPS")  # general categories; the others are control, format, space


def canonical_recipient(text: object) -> str:
    """Return the one form in which this address is sent to and made keys of.

    ASCII white space around it goes, the domain becomes lower case and ASCII (IDNA 2008 after
    the UTS 46 mapping); the local part stays as it is, byte for byte. The canonical form of a
    canonical form is itself. Raises `AddressError` for all that is not one unquoted address.
    """
    if not isinstance(text, str):
        raise AddressError("is not a string")
    return _canonical(text.strip(_WHITE))


@lru_cache(maxsize=64)  # a mail's address is asked for twice: to send to, then to make the key of
def _canonical(text: str) -> str:
    if len(text) <= MAX_ADDRESS and (plain := _PLAIN.fullmatch(text)):
        local, domain = plain.groups()
        return _sized(local, domain.lower())
    return _international(text)


def _international(text: str) -> str:
    if not text:
        raise AddressError("is empty")
    if len(text) > MAX_ADDRESS:
        raise AddressError(_LONG_ADDRESS)
    if not all(map(_visible, text)):
        raise AddressError("holds a space, a control character or an invisible one")
    local, at, domain = text.partition("@")
    if not at or "@" in domain:
        raise AddressError("needs exactly one at sign")
    _check_local(local)
    return _sized(local, _ascii_domain(domain))


def _sized(local: str, domain: str) -> str:
    if len(local.encode()) > MAX_LOCAL:
        raise AddressError(f"has more than {MAX_LOCAL} octets before the at sign")
    address = f"{local}@{domain}"
    if len(address.encode()) > MAX_ADDRESS:
        raise AddressError(_LONG_ADDRESS)
    return address


_LONG_ADDRESS = f"is longer than {MAX_ADDRESS} octets"


def _visible(character: str) -> bool:
    if character.isascii():
        return character.isprintable() and character != " "
    if character in _BLANK or "\ufe00" <= character <= "\ufe0f" or character >= "\U000e0000":
        return False
    return unicodedata.category(character)[0] in _VISIBLE


def _check_local(local: str) -> None:
    if "" in local.split("."):
        raise AddressError("has a misplaced dot, or nothing, before the at sign")
    if not all(map(_atext, local)):
        raise AddressError("holds a character before the at sign that no unquoted address holds")


def _atext(character: str) -> bool:
    """Tell whether it may stand in a local part; look-alikes of `@`, `"` and the like may not."""
    if character.isascii():
        return character in _ATEXT
    return all(c in _ATEXT for c in unicodedata.normalize("NFKC", character) if c.isascii())


def _ascii_domain(domain: str) -> str:
    try:
        encoded = idna.encode(domain, uts46=True, std3_rules=True).decode("ascii")
        again = idna.encode(encoded, uts46=True, std3_rules=True).decode("ascii")
    except (idna.IDNAError, UnicodeError) as error:
        raise AddressError("has a domain that is no host name") from error
    if encoded != again or not _HOST.fullmatch(encoded):
        raise AddressError("has a domain that is no host name")
    return encoded


_HOST = re.compile(r"(?:(?!-)[a-z0-9-]{1,63}(?<!-)\.)+(?!-|[0-9]+\Z)[a-z0-9-]{1,63}(?<!-)")
