"""What the guard raises. Expected cases are results, never exceptions; these stop the service.

GuardError
├─ GuardClosedError             the guard was closed while this call was waiting for Postgres
└─ SetupError              a person must act; the message says what to do
   ├─ SchemaMissingError  ├─ SchemaTooOldError  ├─ ReleaseTooOldError
   ├─ WrongEnvironmentError  ├─ MissingRightsError  ├─ LoginRefusedError
   └─ PostgresUnreachableError  (waiting may help)
"""

from __future__ import annotations


class GuardError(Exception):
    pass


class GuardClosedError(GuardError):
    pass


class SetupError(GuardError):
    pass


class SchemaMissingError(SetupError):
    pass


class SchemaTooOldError(SetupError):
    pass


class ReleaseTooOldError(SetupError):
    pass


class WrongEnvironmentError(SetupError):
    pass


class MissingRightsError(SetupError):
    pass


class LoginRefusedError(SetupError):
    pass


class PostgresUnreachableError(SetupError):
    pass
