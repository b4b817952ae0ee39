"""What SES answers, and what it proves: by the type of the error, never by the status alone.

Sources: the errors that SendEmail declares (botocore/data/sesv2/2019-09-27/service-2.json), those
of every AWS API (https://docs.aws.amazon.com/ses/latest/APIReference/CommonErrors.html), throttling
(https://docs.aws.amazon.com/ses/latest/dg/manage-sending-quotas-errors.html), which is a 400, and
https://docs.aws.amazon.com/ses/latest/dg/troubleshoot-error-messages.html.

A suppressed recipient is no error: SES takes the mail, and an event tells of the bounce.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from consumer.model import (
    Accepted,
    Answer,
    Blocked,
    Rejected,
    Scope,
    SlowDown,
    Transient,
    Unclear,
)
from consumer.providers.statuses import by_status, members, named, retry_after

_Reading = Callable[[str, str, float | None], Answer]  # error, SES's own sentence, Retry-After


def _account(error: str, _: str, __: float | None) -> Answer:
    return Blocked(error)


def _sender(error: str, _: str, __: float | None) -> Answer:
    return Blocked(error, Scope.SENDER)


def _message(error: str, _: str, __: float | None) -> Answer:
    return Rejected(error)


def _unclear(error: str, _: str, wait: float | None) -> Answer:
    return Unclear(error, wait)


def _transient(error: str, _: str, wait: float | None) -> Answer:
    return Transient(error, wait)


def _throttled(error: str, sentence: str, wait: float | None) -> Answer:
    """One type, two sentences: "Maximum sending rate ..." or "Daily message quota exceeded"."""
    return Blocked(error) if "quota exceeded" in sentence else SlowDown(error, wait)


def _rejected(error: str, sentence: str, _: float | None) -> Answer:
    """Content, or an identity that is not verified: the sender's, or in the sandbox anybody's."""
    return Blocked(error, Scope.SENDER) if "not verified" in sentence else Rejected(error)


def _each(reading: _Reading, *types: str) -> Iterable[tuple[str, _Reading]]:
    return ((name, reading) for name in types)


TYPES: Final[Mapping[str, _Reading]] = dict(
    [
        # declared by SendEmail
        *_each(_throttled, "TooManyRequestsException", "LimitExceededException"),
        *_each(_account, "AccountSuspendedException", "SendingPausedException"),
        *_each(_sender, "MailFromDomainNotVerifiedException"),
        *_each(_sender, "NotFoundException"),  # the configuration set: not the fault of one mail
        *_each(_rejected, "MessageRejected"),
        *_each(_message, "BadRequestException"),
        # throttling under every name that AWS gives it (botocore/retries/standard.py)
        *_each(_throttled, "Throttling", "ThrottlingException", "ThrottledException"),
        *_each(_throttled, "RequestThrottled", "RequestThrottledException"),
        *_each(_throttled, "RequestLimitExceeded", "SlowDown"),
        # credentials, signature, clock
        *_each(_account, "InvalidSignatureException", "SignatureDoesNotMatch"),
        *_each(_account, "IncompleteSignature", "IncompleteSignatureException"),
        *_each(_account, "MissingAuthenticationToken", "MissingAuthenticationTokenException"),
        *_each(_account, "UnrecognizedClientException", "InvalidClientTokenId"),
        *_each(_account, "ExpiredToken", "ExpiredTokenException", "RequestExpired"),
        *_each(_account, "OptInRequired", "NotAuthorized", "UnknownOperationException"),
        # a policy may allow one sender and not another (the page says 400, the API answers 403)
        *_each(_sender, "AccessDenied", "AccessDeniedException"),
        # what is wrong with the request
        *_each(_message, "ValidationException", "ValidationError", "SerializationException"),
        *_each(_message, "InvalidParameterValue", "InvalidParameterCombination"),
        *_each(_message, "MissingParameter"),
        # the server's side
        *_each(_transient, "ServiceUnavailable", "ServiceUnavailableException"),
        *_each(_unclear, "InternalFailure", "InternalServerError"),
        *_each(_unclear, "InternalServiceErrorException", "InternalServerException"),
        *_each(_unclear, "RequestTimeout", "RequestTimeoutException"),  # a 400 at some AWS APIs
    ]
)


def read(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    answer = members(body)
    kind = _type(headers, answer)
    error = named("ses", status, kind)
    if kind in TYPES:
        return TYPES[kind](error, _sentence(answer), retry_after(headers))
    if kind or status != 200:  # noqa: PLR2004 - the one success of the model
        return by_status("ses", status, headers, kind)
    message_id = answer.get("MessageId")
    if isinstance(message_id, str) and message_id:
        return Accepted(message_id)
    return Unclear(named("ses", status, "no-id"))


def _type(headers: Mapping[str, str], answer: Mapping[str, Any]) -> str:
    """`X:http://...` in the header, `namespace#X` in the body; the header comes first."""
    given = headers.get("x-amzn-ErrorType") or answer.get("__type") or answer.get("code") or ""
    return str(given).partition(":")[0].rpartition("#")[2].strip()


def _sentence(answer: Mapping[str, Any]) -> str:
    """Only looked at, never passed on: it quotes addresses."""
    return str(answer.get("message") or answer.get("Message") or "").casefold()
