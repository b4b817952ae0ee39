"""An SMTP server's replies, one row a documented code and place.

Sources: RFC 5321 (4.2, replies by place), RFC 3463 (enhanced codes), RFC 4954 (authentication),
https://docs.aws.amazon.com/ses/latest/dg/manage-sending-quotas-errors.html (454).
"""

from __future__ import annotations

import pytest

from consumer.model import (
    Answer,
    Blocked,
    Refused,
    Rejected,
    Scope,
    SlowDown,
    Transient,
    Unclear,
)
from consumer.providers.smtp_replies import Place, acceptance, refusal

ROWS: list[tuple[Place, int, str, type[Answer]]] = [
    # before any mail: it is about all of them
    (Place.GREETING, 554, "No SMTP service here", Blocked),
    (Place.GREETING, 421, "4.3.2 Too busy", Transient),
    (Place.HELLO, 502, "Command not implemented", Blocked),
    (Place.TLS, 454, "4.7.0 TLS not available", Transient),
    (Place.TLS, 501, "Syntax error", Blocked),
    (Place.LOGIN, 535, "5.7.8 Authentication credentials invalid", Blocked),
    (Place.LOGIN, 534, "5.7.9 Mechanism is too weak", Blocked),
    (Place.LOGIN, 432, "4.7.12 A password transition is needed", Blocked),
    (Place.LOGIN, 454, "4.7.0 Temporary authentication failure", Transient),
    # of the sender
    (Place.SENDER, 530, "5.7.0 Authentication required", Blocked),
    (Place.SENDER, 553, "5.7.1 Sender address rejected: not owned by user", Blocked),
    (Place.SENDER, 550, "5.1.8 Sender address rejected: Domain not found", Blocked),
    (Place.SENDER, 552, "5.3.4 Message size exceeds fixed limit", Rejected),
    (Place.SENDER, 555, "5.5.4 Unsupported option: SMTPUTF8", Rejected),
    (Place.SENDER, 451, "4.3.0 Local error", Transient),
    (Place.SENDER, 452, "4.3.1 Insufficient system storage", Transient),
    (Place.SENDER, 421, "4.4.2 Timeout exceeded", Transient),
    # of the recipient
    (Place.RECIPIENT, 550, "5.1.1 <ada@example.com>: User unknown", Refused),
    (Place.RECIPIENT, 550, "no such user", Refused),
    (Place.RECIPIENT, 551, "User not local", Refused),
    (Place.RECIPIENT, 553, "5.1.3 Bad recipient address syntax", Refused),
    (Place.RECIPIENT, 552, "5.2.2 Mailbox full", Refused),
    (Place.RECIPIENT, 450, "4.2.0 Greylisted", Transient),
    (Place.RECIPIENT, 452, "4.5.3 Too many recipients", Transient),
    (Place.RECIPIENT, 530, "5.7.0 Must issue a STARTTLS command first", Blocked),
    # a relay that is closed to us is no property of the recipient; nor may one recipient stop all
    (Place.RECIPIENT, 554, "5.7.1 <ada@example.com>: Relay access denied", Rejected),
    (Place.RECIPIENT, 550, "relay not permitted", Rejected),
    # of the mail
    (Place.DATA, 554, "5.5.1 No valid recipients", Rejected),
    (Place.DATA, 451, "4.3.0 Try again", Transient),
    (Place.DATA, 250, "Ok, not what was asked for", Transient),
    (Place.END, 554, "5.7.1 Spam message rejected", Rejected),
    (Place.END, 550, "5.6.0 Bad header", Rejected),
    (Place.END, 552, "5.3.4 Too large", Rejected),
    (Place.END, 451, "4.7.1 Try again", Transient),
    (Place.END, 421, "4.3.2 Shutting down", Transient),
    (Place.END, 354, "Go on", Unclear),  # no reply that belongs here
    (Place.END, 454, "Throttling failure: Maximum sending rate exceeded.", SlowDown),
    (Place.END, 454, "Throttling failure: Daily message quota exceeded.", Blocked),
]


@pytest.mark.parametrize(("place", "code", "text", "expected"), ROWS)
def test_the_code_and_its_place_decide(
    place: Place, code: int, text: str, expected: type[Answer]
) -> None:
    answer = refusal(place, code, text)
    assert type(answer) is expected
    assert "@" not in repr(answer)


def test_the_error_names_code_and_place() -> None:
    answer = refusal(Place.RECIPIENT, 550, "5.1.1 <ada@example.com>: User unknown")
    assert answer == Refused("smtp 550 5.1.1 at RCPT")
    assert refusal(Place.END, 554, "no") == Rejected("smtp 554 at end of data")


def test_a_sender_that_may_not_send_stops_alone() -> None:
    answer = refusal(Place.SENDER, 553, "5.7.1 not owned by user")
    assert answer == Blocked("smtp 553 5.7.1 at MAIL", Scope.SENDER)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("2.0.0 Ok: queued as 4F1A2B3C4D", "4F1A2B3C4D"),  # Postfix
        ("OK id=1abcDE-0003Xy-00", "1abcDE-0003Xy-00"),  # Exim
        ("Ok 0107018f3c0ba2d1-5b1c-000000", "0107018f3c0ba2d1-5b1c-000000"),  # SES
        ("2.0.0 OK  1688 d9443c01-gsmtp", "<k@shop.example>"),  # Gmail: nothing that names it alone
        ("Ok thank you very much", "<k@shop.example>"),
        ("", "<k@shop.example>"),
    ],
)
def test_the_queue_id_is_taken_where_it_can_be_read(text: str, name: str) -> None:
    assert acceptance(text, "<k@shop.example>").provider_message_id == name
