"""The configuration: one TOML file, and the environment, which wins.

    settings = load(Path("sendonce.toml"))

Whatever is wrong is said at once: `SettingsError.problems` holds every unknown name, wrong type,
missing value and contradiction, each with the setting's name and where it came from.
"""

from consumer.settings.following import Followed, follow
from consumer.settings.kafka import Kafka
from consumer.settings.loading import DEFAULT_PATH, load
from consumer.settings.private import Privacy
from consumer.settings.problems import Problem, SettingsError
from consumer.settings.sections import (
    Admin,
    Catalogue,
    Guard,
    Outcomes,
    Postgres,
    Registry,
    Retry,
    Safety,
    Sender,
    Settings,
    Topic,
    Webhooks,
)

__all__ = [
    "DEFAULT_PATH",
    "Admin",
    "Catalogue",
    "Followed",
    "Guard",
    "Kafka",
    "Outcomes",
    "Postgres",
    "Privacy",
    "Problem",
    "Registry",
    "Retry",
    "Safety",
    "Sender",
    "Settings",
    "SettingsError",
    "Topic",
    "Webhooks",
    "follow",
    "load",
]
