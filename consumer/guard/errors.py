"""What the guard raises. Expected cases are results, never exceptions; these stop the service.

GuardError
├─ GuardClosed             the guard was closed while this call was waiting for Postgres
└─ SetupError              a person must act; the message says what to do
   ├─ SchemaMissing  ├─ SchemaTooOld  ├─ ReleaseTooOld
   ├─ WrongEnvironment  ├─ MissingRights  ├─ LoginRefused
   └─ PostgresUnreachable  (waiting may help)
"""

from __future__ import annotations


class GuardError(Exception):
    pass


class GuardClosed(GuardError):  # noqa: N818 - names the state, not an error of anybody
    pass


class SetupError(GuardError):
    pass


class SchemaMissing(SetupError):  # noqa: N818 - reads as the finding it is
    pass


class SchemaTooOld(SetupError):  # noqa: N818 - reads as the finding it is
    pass


class ReleaseTooOld(SetupError):  # noqa: N818 - reads as the finding it is
    pass


class WrongEnvironment(SetupError):  # noqa: N818 - reads as the finding it is
    pass


class MissingRights(SetupError):  # noqa: N818 - reads as the finding it is
    pass


class LoginRefused(SetupError):  # noqa: N818 - reads as the finding it is
    pass


class PostgresUnreachable(SetupError):  # noqa: N818 - reads as the finding it is
    pass
