"""The only importer of aiokafka: thin wrappers that speak our words and return closed results.

What aiokafka 0.14 does that is not obvious, and what stands against it here:

    forgets offsets   it never reads the top-level error of an OffsetFetch answer and takes the
                      empty list beside it as "nothing committed": `guard_offset_fetch`
    resets silently   `auto_offset_reset="none"`: positions.py decides, or the process stops
    commits for ever  every commit has a deadline
    joins once for each assignor: exactly one, round robin (sticky keeps state in its class)
    stop() waits for a join under way, however long the dead hold it up: a goodbye beside it
    brokers that are away raise nothing and are told to nobody: `Ear`
    stop() raises     a CancelledError that nobody asked for, brokers down: own task, own deadline
    getmany cancelled never recovers: nobody cancels it, nobody puts a timeout around it
"""

from consumer.intake.kafka.access import check_topics
from consumer.intake.kafka.answers import CommitAnswer, Committed, Late, Lost
from consumer.intake.kafka.client import guard_offset_fetch
from consumer.intake.kafka.consumer import Consumer
from consumer.intake.kafka.listener import Owner
from consumer.intake.kafka.past import Past, Stretch
from consumer.intake.kafka.producer import Producer
from consumer.intake.kafka.reader import Reader, RecordGoneError

__all__ = [
    "CommitAnswer",
    "Committed",
    "Consumer",
    "Late",
    "Lost",
    "Owner",
    "Past",
    "Producer",
    "Reader",
    "RecordGoneError",
    "Stretch",
    "check_topics",
    "guard_offset_fetch",
]
