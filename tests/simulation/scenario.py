"""What a seed draws: who is there, what is sent, and how bad it gets."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from random import Random

from consumer.intake.offsets import Partition
from consumer.model import MailType, OnUnknown, Record
from tests.simulation.catalogue import Deploy
from tests.simulation.loop import START
from tests.simulation.providers import KINDS, Kind
from tests.simulation.worker import Setting

TOPIC = "events"


@dataclass(frozen=True, slots=True)
class Scenario:
    companies: dict[str, Kind]
    deploys: list[Deploy]
    partitions: list[Partition]
    records: list[tuple[float, Partition, Record, int]]  # when, where, what, hole behind it
    workers: int
    lasts: float  # seconds of chaos
    setting: Setting
    calm_setting: Setting


def draw(random: Random) -> Scenario:
    kinds = random.sample(KINDS, random.choice((1, 1, 2, 2)))
    companies = {kind.name: kind for kind in kinds}
    types = _types(random, list(companies))
    partitions = [Partition(TOPIC, n) for n in range(random.choice((1, 2, 2, 3)))]
    setting = _setting(random)
    return Scenario(
        companies, _deploys(random, types), partitions, _records(random, types, partitions),
        random.choice((1, 2, 2, 2, 3)), random.choice((15.0, 40.0, 70.0, 400.0, 400.0)), setting,
        replace(setting, commit_every=300.0),
    )  # fmt: skip


def _types(random: Random, companies: list[str]) -> dict[str, MailType]:
    types = {}
    for n in range(random.choice((1, 1, 2))):
        order = random.sample(companies, random.randint(1, len(companies)))
        name = f"t{n}"
        types[name] = MailType(
            name=name, topic=TOPIC, providers=tuple(order), sender="shop",
            max_age=random.choice((60.0, 900.0, 86400.0, 86400.0)),
            on_unknown=random.choice((OnUnknown.HOLD, OnUnknown.HOLD, OnUnknown.RESEND)),
            digest=f"{name}.d0",
        )  # fmt: skip
    return types


def _deploys(random: Random, types: dict[str, MailType]) -> list[Deploy]:
    """The first, and what comes after it: the same again, mostly."""
    first = Deploy(0, types)
    if random.random() < 0.4:
        return [first, first]
    later = {name: replace(one, digest=f"{name}.d1") for name, one in types.items()}
    changes = (
        {"body": "hello again"},
        {"variables": "+shop"},
        {"unreadable": frozenset({"e0"})},
        {"unrenderable": frozenset({"e0"})},
        {"account": "other"},
    )
    return [first, replace(first, number=1, types=later, **random.choice(changes))]


def _records(
    random: Random, types: dict[str, MailType], partitions: list[Partition]
) -> list[tuple[float, Partition, Record, int]]:
    records = []
    ends = dict.fromkeys(partitions, 0)
    at = 0.0
    for _ in range(random.randint(1, 6)):
        at += random.choice((0.0, 0.01, 1.0, 10.0)) * random.random()
        partition = random.choice(partitions)
        hole = random.choice((0, 0, 0, 1, 2))
        offset = ends[partition]
        record = Record(
            TOPIC, partition.number, offset, int((START + at) * 1000), None, _value(random, types)
        )
        records.append((at, partition, record, hole))
        ends[partition] = offset + 1 + hole
    return records


def _value(random: Random, types: dict[str, MailType]) -> bytes | None:
    drawn = random.random()
    if drawn < 0.04:
        return None
    if drawn < 0.08:
        return b"{"
    if drawn < 0.1:
        return b'{"type": "nobody.knows.it"}'
    content = "c0" if random.random() < 0.85 else "c1"
    entity = random.choice(("e0", "e0", "e1", "e2"))
    return json.dumps({"type": random.choice(list(types)), "k": entity, "c": content}).encode()


def _setting(random: Random) -> Setting:
    return Setting(
        lease=random.choice((25.0, 30.0)),
        max_attempts=random.choice((2, 4, 4)),
        in_flight=random.choice((1, 2, 384)),
        per_partition=random.choice((1, 256)),
        commit_every=random.choice((3.0, 10.0, 30.0)),
        outcomes=random.random() < 0.7,
        clock_error=random.choice((0.0, 0.0, 0.0, 5.0, -5.0)),
    )
