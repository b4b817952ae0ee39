"""What a mail type brings along, held against what each of its providers can take."""

from __future__ import annotations

import re
from collections.abc import Mapping

from consumer.catalogue.folder import Findings, Folder
from consumer.model import Carrier


def check_carriers(folder: Folder, carriers: Mapping[str, Carrier], findings: Findings) -> None:
    """Its files must fit and its template must be one, at every provider that it may go by.

    Failover must not be what finds out that the second provider takes less.
    """
    says = folder.declaration
    total = sum(attachment.max_size for attachment in says.attachments)
    for name in says.providers or carriers:
        carrier = carriers.get(name)
        if carrier is None:
            continue  # it is not configured, which is told elsewhere
        if carrier.files is not None and total > carrier.files:
            text = f"attachments: up to {total} bytes in all, {name} takes {carrier.files}"
            findings.add(f"{folder.name}/mail.toml", folder.line("attachments"), text)
        if (wrong := _wrong(says.template.get(name), carrier)) is not None:
            line = folder.line("template", name)
            findings.add(f"{folder.name}/mail.toml", line, f"template.{name}: {wrong}")


def _wrong(template: str | None, carrier: Carrier) -> str | None:
    if template is None:
        return None
    if carrier.template is None:
        return "this provider keeps no templates: write the bodies here"
    if not re.fullmatch(carrier.template, template):
        return "is not what the id of a template looks like at this provider"
    return None
