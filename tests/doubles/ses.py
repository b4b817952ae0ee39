"""Amazon SES v2's `SendEmail`: signature, members, tags and headers as its model has them.

https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html,
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import orjson

from tests.doubles.api import Api, Call, RefusalError, Reply, Taken, as_json, one_mailbox
from tests.doubles.brought import Brought, File, read_file

PATH = "/v2/email/outbound-emails"
MEMBERS = {
    "FromEmailAddress", "FromEmailAddressIdentityArn", "Destination", "ReplyToAddresses",
    "FeedbackForwardingEmailAddress", "FeedbackForwardingEmailAddressIdentityArn", "Content",
    "EmailTags", "ConfigurationSetName", "EndpointId", "TenantName", "ListManagementOptions",
    "ConfigurationOverrides",
}  # fmt: skip
TAG = re.compile(r"[A-Za-z0-9_-]{1,256}")
HEADER_NAME = re.compile(r"[!-9;-~]{1,126}")
HEADER_VALUE = re.compile(r"[ -~]{1,995}")
AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/ses/aws4_request, "
    r"SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})"
)
MUST_BE_SIGNED = {"host", "x-amz-date"}
ENCODED_NAME = re.compile(r"(=\?utf-8\?[bq]\?[!->@-~]{1,63}\?= )+(?=<)")  # RFC 2047: 75 in all
SKEW = 300  # seconds between the two clocks
SWITCHES = {"OpenTrackingEnabled", "ClickTrackingEnabled"}
ATTACHED = {
    "RawContent", "FileName", "ContentType", "ContentDisposition", "ContentDescription",
    "ContentId", "ContentTransferEncoding",
}  # fmt: skip
SIZE_LIMIT = 40_000_000
MADE_BY_SES = {"message-id", "date", "from", "to", "subject", "reply-to", "cc", "bcc"}


class SesApi(Api):
    name = "ses"

    def __init__(self, access_key: str = "AKIDEXAMPLE", secret: str = "wJalrXUtnFEMI") -> None:
        self.region = "eu-central-1"
        self.access_key, self.secret = access_key, secret
        self.credentials = {
            "region": self.region,
            "access_key_id": access_key,
            "secret_access_key": secret,
        }
        self.sets = {"transactional"}

    def check(self, call: Call) -> Taken:
        self._check_signature(call)
        if (call.method, call.path) != ("POST", PATH):
            raise _error(404, "UnknownOperationException")
        if call.headers.get("Content-Type", "").partition(";")[0] != "application/json":
            raise _error(400, "SerializationException")
        mail = _members(call.body)
        if mail.get("ConfigurationSetName", "transactional") not in self.sets:
            raise _error(404, "NotFoundException")
        _tracking(mail)
        content, brought = _content(mail)
        key = _headers(content).get("x-ses-idempotency-key", "")
        ours = key if _tags(mail).get("sendonce_key") == key else ""
        return Taken(ours, _addressed(mail), brought)

    def accepted(self, taken: Taken, message_id: str) -> Reply:
        return as_json(200, {"MessageId": message_id})

    def _check_signature(self, call: Call) -> None:
        given = AUTHORIZATION.fullmatch(call.headers.get("Authorization", ""))
        if given is None:
            raise _error(403, "MissingAuthenticationTokenException")
        access_key, day, region, names, signature = given.groups()
        if access_key != self.access_key:
            raise _error(403, "UnrecognizedClientException")
        stamp = call.headers.get("X-Amz-Date", "")
        if not (stamp.startswith(day) and _recent(stamp) and region == self.region):
            raise _error(403, "InvalidSignatureException")
        if MUST_BE_SIGNED - set(names.split(";")):
            raise _error(403, "InvalidSignatureException")
        if signature != self._signature(call, names.split(";"), stamp):
            raise _error(403, "InvalidSignatureException")

    def _signature(self, call: Call, names: list[str], stamp: str) -> str:
        """Sign again, with botocore: it is an extra, and takes its time to import."""
        from botocore.auth import SigV4Auth  # noqa: PLC0415 - an extra, slow to import
        from botocore.awsrequest import AWSRequest  # noqa: PLC0415 - an extra, slow to import
        from botocore.credentials import Credentials  # noqa: PLC0415 - an extra, slow to import

        request = AWSRequest(
            call.method,
            f"http://{call.headers['Host']}{urlsplit(call.path).path}",
            headers={name: call.headers[name] for name in names if name != "host"},
            data=call.body,
        )
        request.context["timestamp"] = stamp
        auth = SigV4Auth(Credentials(self.access_key, self.secret), "ses", self.region)
        text = auth.string_to_sign(request, auth.canonical_request(request))
        return auth.signature(text, request)


def _recent(stamp: str) -> bool:
    try:
        then = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return False
    return abs((datetime.now(UTC) - then).total_seconds()) <= SKEW


def _error(status: int, kind: str) -> RefusalError:
    headers = {"x-amzn-ErrorType": f"{kind}:http://internal.amazon.com/coral/com.amazonaws.ses/"}
    return RefusalError(as_json(status, {"message": "as documented"}, headers))


def _bad(condition: bool) -> None:  # noqa: FBT001 - reads as a sentence
    if condition:
        raise _error(400, "BadRequestException")


def _members(body: bytes) -> Mapping[str, Any]:
    _bad(len(body) > SIZE_LIMIT)
    try:
        mail = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise _error(400, "SerializationException") from None
    _bad(not isinstance(mail, dict) or not set(mail) <= MEMBERS or "Content" not in mail)
    return dict(mail)


def _content(mail: Mapping[str, Any]) -> tuple[Mapping[str, Any], Brought]:
    """Exactly one kind of content."""
    kinds = list(mail["Content"])
    _bad(kinds not in (["Simple"], ["Template"]))
    content = mail["Content"][kinds[0]]
    files = _files(content)
    if kinds == ["Simple"]:
        return _simple(content), Brought(files)
    return content, _template(content, files)


def _template(content: Mapping[str, Any], files: tuple[File, ...]) -> Brought:
    """The data is a text, and that text is a JSON object."""
    names = {"TemplateName", "TemplateArn"} & set(content)
    _bad(len(names) != 1 or not set(content) - names <= TEMPLATE)
    data = content.get("TemplateData", "{}")
    _bad(not isinstance(data, str) or len(data) > 262_144)
    try:
        model = orjson.loads(data)
    except orjson.JSONDecodeError:
        raise _error(400, "BadRequestException") from None
    _bad(not isinstance(model, dict))
    return Brought(files, content[names.pop()], model)


TEMPLATE = {"TemplateData", "Headers", "Attachments"}


def _files(content: Mapping[str, Any]) -> tuple[File, ...]:
    """A binary file that is not said to be base64 would be written as seven bits."""
    files = []
    for one in content.get("Attachments", []):
        _bad(not {"RawContent", "FileName"} <= set(one) <= ATTACHED)
        _bad(one.get("ContentDisposition") != "ATTACHMENT" or len(one["FileName"]) > 255)
        _bad(one.get("ContentTransferEncoding") != "BASE64")
        file = read_file(one["FileName"], one.get("ContentType"), one["RawContent"])
        _bad(file is None or len(file.kind) > 78 or "." not in file.name)
        files += [file] if file else []
    return tuple(files)


def _tracking(mail: Mapping[str, Any]) -> None:
    """What is not said is as somebody has set it for the account: nobody should rely on that."""
    said = mail.get("ConfigurationOverrides", {}).get("Tracking", {})
    _bad(set(said) != SWITCHES or not set(said.values()) <= {"ENABLED", "DISABLED"})


def _simple(simple: Mapping[str, Any]) -> Mapping[str, Any]:
    """Subject, and a body with at least one part."""
    _bad(not {"Subject", "Body"} <= set(simple) <= {"Subject", "Body", "Headers", "Attachments"})
    parts = simple["Body"]
    _bad(not parts or not set(parts) <= {"Text", "Html"})
    for content in (simple["Subject"], *parts.values()):
        _bad(not isinstance(content.get("Data"), str) or not set(content) <= {"Data", "Charset"})
        _bad(not content["Data"].isascii() and content.get("Charset") != "UTF-8")
    return dict(simple)


def _headers(simple: Mapping[str, Any]) -> dict[str, str]:
    headers = simple.get("Headers", [])
    _bad(len(headers) > 15)
    for header in headers:
        name, value = header["Name"], header["Value"]
        _bad(not (HEADER_NAME.fullmatch(name) and HEADER_VALUE.fullmatch(value)))
        _bad(len(name) + len(value) > 996 or name.lower() in MADE_BY_SES)
    return {header["Name"].lower(): header["Value"] for header in headers}


def _tags(mail: Mapping[str, Any]) -> dict[str, str]:
    tags = {tag["Name"]: tag["Value"] for tag in mail.get("EmailTags", [])}
    _bad(not all(TAG.fullmatch(part) for pair in tags.items() for part in pair))
    return tags


def _addressed(mail: Mapping[str, Any]) -> str:
    to = mail.get("Destination", {}).get("ToAddresses", [])
    boxes = [mail.get("FromEmailAddress"), *to, *mail.get("ReplyToAddresses", [])]
    _bad(len(to) != 1 or not all(str(box).isascii() for box in boxes))
    found = [one_mailbox(ENCODED_NAME.sub("Name ", str(box))) for box in boxes]
    _bad(not all(found))
    return found[1] or ""
