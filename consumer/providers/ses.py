"""Amazon SES, API version 2: https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html.

SES has no idempotency key and cannot be asked for a mail by anything of ours: what became of a mail
is learnt from its events, where the tag `sendonce_key` comes back. The header
`x-ses-idempotency-key` is for people who read the mail's source; SES does not act on it. It makes
its own Message-ID, and refuses a second one.

Tracking is said for each mail, whatever the account or a configuration set has switched on
(https://docs.aws.amazon.com/ses/latest/dg/configuration-overrides.html). A mail whose template
cannot be filled is accepted first: the event "Rendering Failure" tells of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar, Final, Literal, Self

from pydantic import SecretStr, model_validator

from consumer.model import (
    KEY_FIELD,
    Address,
    Answer,
    Blocked,
    Enclosed,
    Message,
    Prepared,
    Rejected,
)
from consumer.providers import mime
from consumer.providers.aws import AwsCredentials
from consumer.providers.base import json_of, prepared_json
from consumer.providers.enclosing import MEGABYTE, base64_of, files_within
from consumer.providers.fields import mailbox, refuse
from consumer.providers.options import BaseUrl, Options, Texts
from consumer.providers.ses_answers import read
from consumer.providers.sigv4 import Keys, Scope, sign

# The service's own model: botocore/data/sesv2/2019-09-27, shapes MessageHeader and MessageTag
HEADERS_LIMIT: Final = 15
HEADER_VALUE: Final = re.compile(r"[ -~]{1,995}")
HEADER_LIMIT: Final = 996  # characters, of name and value together
TEMPLATE_DATA_LIMIT: Final = 262_144  # characters of JSON
# Of a mail, its files included and encoded: https://docs.aws.amazon.com/ses/latest/dg/attachments.html
SIZE_LIMIT: Final = 40 * MEGABYTE
_NOT_IN_TAGS: Final = re.compile(r"[^A-Za-z0-9_-]")
_TAG_LIMIT: Final = 256  # characters
KEY_HEADER: Final = "x-ses-idempotency-key"
PATH: Final = "/v2/email/outbound-emails"
CONTENT: Final = {"Content-Type": "application/json"}


class SesOptions(Options):
    """[providers.X] with type = "ses".

    Without `access_key_id` and `secret_access_key` (both or none) the usual AWS chain is asked,
    for `profile` if there is one. `account`: whatever tells this account from another one that is
    or was used under the same name; default: the region. `webhook_topics`: ARNs of the SNS topics
    that may tell us of events; SNS signs with certificates of its own, so there is no secret.
    """

    files_limit: ClassVar[int | None] = files_within(SIZE_LIMIT)
    template_id: ClassVar[str | None] = r"[A-Za-z0-9_-]+|arn:[!-~]+"

    type: Literal["ses"] = "ses"
    region: str
    base_url: BaseUrl | None = None
    configuration_set: str | None = None  # for mail types that name none
    profile: str | None = None
    access_key_id: str | None = None
    secret_access_key: SecretStr | None = None
    session_token: SecretStr | None = None
    webhook_topics: Texts = ()

    @model_validator(mode="after")
    def a_key_has_two_halves(self) -> Self:
        if (self.access_key_id is None) != (self.secret_access_key is None):
            raise ValueError("access_key_id and secret_access_key go together")
        return self


class Ses:
    window = 0.0  # no idempotency key
    search = None  # nothing finds a mail by our key

    def __init__(self, options: SesOptions) -> None:
        self.account = f"ses:{options.account or options.region}"
        self._url = (options.base_url or _endpoint(options.region)).rstrip("/") + PATH
        self._configuration_set = options.configuration_set
        self._scope = Scope(options.region, "ses")
        self._credentials = AwsCredentials(_given(options), options.profile)

    def request(
        self, message: Message, enclosed: Sequence[Enclosed] = (), template: str | None = None
    ) -> Prepared | Rejected:
        refused = refuse(message, utf8_local=False) or _over_limits(message)
        if refused is not None:
            return refused
        content = _content(message, enclosed, template)
        if isinstance(content, Rejected):
            return content
        body = _body(message, self._configuration_set, content)
        return prepared_json(message, self._url, body, CONTENT, enclosed)

    async def sign(self, prepared: Prepared) -> Mapping[str, str] | Blocked:
        keys = await self._credentials.keys()
        if isinstance(keys, Blocked):
            return keys
        now = datetime.now(UTC)
        return sign(keys, self._scope, prepared.url, prepared.headers, prepared.body_hash, now)

    def read(self, status: int, headers: Mapping[str, str], body: bytes) -> Answer:
        return read(status, headers, body)


def _endpoint(region: str) -> str:
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return f"https://email.{region}.{suffix}"


def _given(options: SesOptions) -> Keys | None:
    if options.access_key_id is None or options.secret_access_key is None:
        return None
    token = options.session_token
    secret = options.secret_access_key.get_secret_value()
    return Keys(options.access_key_id, secret, token.get_secret_value() if token else None)


# ── The request


def _body(
    message: Message, configuration_set: str | None, content: dict[str, Any]
) -> dict[str, Any]:
    body: dict[str, Any] = {
        "FromEmailAddress": _mailbox(message.sender),
        "Destination": {"ToAddresses": [_mailbox(message.to)]},
        "Content": content,
        "EmailTags": [{"Name": name, "Value": value} for name, value in _tags(message)],
        "ConfigurationOverrides": {"Tracking": _tracking(message)},
    }
    if message.reply_to is not None:
        body["ReplyToAddresses"] = [_mailbox(message.reply_to)]
    chosen = message.options.get("configuration_set", configuration_set)
    if chosen:
        body["ConfigurationSetName"] = chosen
    return body


def _content(
    message: Message, enclosed: Sequence[Enclosed], template: str | None
) -> dict[str, Any] | Rejected:
    content = _simple(message) if template is None else _hosted(message, template)
    if isinstance(content, Rejected):
        return content
    content["Headers"] = [{"Name": name, "Value": value} for name, value in _headers(message)]
    if enclosed:
        content["Attachments"] = [_file(each) for each in enclosed]
    return {"Simple" if template is None else "Template": content}


def _simple(message: Message) -> dict[str, Any]:
    parts = {"Text": _utf8(message.text), "Html": _utf8(message.html)}
    return {"Subject": _utf8(message.subject), "Body": parts}


def _hosted(message: Message, template: str) -> dict[str, Any] | Rejected:
    """Name a template of the account; its data travels as a text that is JSON."""
    data = json_of(dict(message.model))
    if data is None or len(text := data.decode()) > TEMPLATE_DATA_LIMIT:
        return Rejected(f"template data is no JSON, or over {TEMPLATE_DATA_LIMIT} characters")
    member = "TemplateArn" if template.startswith("arn:") else "TemplateName"
    return {member: template, "TemplateData": text}


def _file(enclosed: Enclosed) -> dict[str, str]:
    """Say how the mail is to hold it: SES would write it as seven bits, which it is not."""
    file = enclosed.attachment
    return {
        "FileName": file.name,
        "ContentType": file.content_type,
        "ContentDisposition": "ATTACHMENT",
        "ContentTransferEncoding": "BASE64",
        "RawContent": base64_of(enclosed),
    }


def _tracking(message: Message) -> dict[str, str]:
    """Say both always: what is left out is as the account or the configuration set has it."""
    return {
        "OpenTrackingEnabled": _switch(message.track_opens),
        "ClickTrackingEnabled": _switch(message.track_clicks),
    }


def _switch(wanted: bool) -> str:  # noqa: FBT001 - it is about the value
    return "ENABLED" if wanted else "DISABLED"


def _utf8(text: str) -> dict[str, str]:
    return {"Data": text, "Charset": "UTF-8"}


def _mailbox(address: Address) -> str:
    """Addresses are ASCII to SES; a name is written as RFC 2047 words where it is not."""
    if address.name.isascii() and "=?" not in address.name:
        return mailbox(address)
    return f"{_ascii('From', address.name)} <{address.email}>"


def _ascii(name: str, text: str) -> str:
    return mime.unstructured(name, text).replace("\r\n", "")


def _headers(message: Message) -> list[tuple[str, str]]:
    ours = [(KEY_HEADER, message.key)]
    return ours + [(n, v if v.isascii() else _ascii(n, v)) for n, v in message.headers]


def _tags(message: Message) -> list[tuple[str, str]]:
    """SES's tags are pairs, ours are words: a word becomes `tag_1`, `tag_2`, in its alphabet."""
    words = [_NOT_IN_TAGS.sub("_", tag)[:_TAG_LIMIT] for tag in message.tags]
    pairs = [(f"tag_{number}", word) for number, word in enumerate(words, 1) if word]
    return [(KEY_FIELD, message.key), *pairs]


def _over_limits(message: Message) -> Rejected | None:
    headers = _headers(message)
    if len(headers) > HEADERS_LIMIT:
        return Rejected(f"{len(headers)} headers, SES takes {HEADERS_LIMIT}")
    for name, value in headers:
        if not HEADER_VALUE.fullmatch(value) or len(name) + len(value) > HEADER_LIMIT:
            return Rejected("a header's value is empty, too long, or not printable")
    return None
