"""The shipped mails in a real browser engine: nothing sticks out, and dark mode is dark.

Chromium stands for the mail clients built on web engines; what the others drop (style sheets,
media queries) is not tested here, but the mails do not lean on it: styles are inline.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from consumer.events import decode
from consumer.model import Event, Mail, Message
from tests.unit.catalogue.shop import real_catalogue, record

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-sync",
    "--no-first-run",
    "--virtual-time-budget=10000",
    "--dump-dom",
)
WIDTHS = (320, 375, 600, 800)

HEAD = '<meta charset="utf-8"><meta name="color-scheme" content="light dark">'

# Measures every mail in a frame of each width and writes what it found into the page.
MEASURE = """
const mails = %s, widths = %s, found = [];
async function measure(name, source, width) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `border:0;width:${width}px;height:600px`;
  frame.srcdoc = source;
  const loaded = new Promise(done => frame.onload = done);
  document.body.append(frame);
  await loaded;
  const page = frame.contentDocument, body = page.body;
  const card = page.querySelector(".card"), ink = page.querySelector(".card .ink");
  // Some clients keep nothing of <html>: the direction must stand further in as well.
  for (const attribute of ["lang", "dir"]) page.documentElement.removeAttribute(attribute);
  const figures = [...page.querySelectorAll("td[nowrap]")].map(cell => {
    const it = cell.getBoundingClientRect();
    const label = cell.previousElementSibling.getBoundingClientRect();
    return {left: it.left < label.left, apart: it.right <= label.left || label.right <= it.left,
      fits: cell.scrollWidth <= Math.ceil(it.width)};
  });
  found.push({name, width, figures, needed: page.documentElement.scrollWidth,
    background: getComputedStyle(card).backgroundColor, ink: getComputedStyle(ink).color,
    shown: body.innerText.length, links: [...page.links].map(a => a.protocol)});
  frame.remove();
}
(async () => {
  for (const [name, source] of Object.entries(mails))
    for (const width of widths) await measure(name, source, width);
  document.body.textContent = "FOUND" + JSON.stringify(found) + "END";
})();
"""


def rendered() -> dict[str, str]:
    """Render every example of the shipped folders."""
    catalogue, pages = real_catalogue(), {}
    for example in catalogue.examples:
        event = decode(record(example.topic, value=example.value))
        assert isinstance(event, Event)
        mail = catalogue.read(record(example.topic), event)
        assert isinstance(mail, Mail)
        message = catalogue.render(mail)
        assert isinstance(message, Message)
        pages[f"{example.mail_type}/{example.name}"] = message.html
    return pages


def measured(room: Path, scheme: str) -> list[dict[str, Any]]:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("no Chromium on this machine")
    script = MEASURE % (json.dumps(rendered()).replace("</", "<\\/"), json.dumps(WIDTHS))
    page = room / "page.html"
    page.write_text(f"{HEAD}<body><script>{script}</script>")
    colours = f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}"
    command = [browser, *FLAGS, colours, f"--user-data-dir={room / 'profile'}", page.as_uri()]
    output = subprocess.run(command, capture_output=True, text=True, timeout=90, check=True).stdout
    found = re.search(r"FOUND(.*)END", output, re.DOTALL)
    assert found, output[:500]
    measures: list[dict[str, Any]] = json.loads(html.unescape(found[1]))
    assert len(measures) == len(rendered()) * len(WIDTHS)
    return measures


def brightness(colour: str) -> int:
    return sum(int(part) for part in re.findall(r"\d+", colour)[:3])


def test_amounts_stand_at_the_end_of_the_line_in_either_direction(tmp_path: Path) -> None:
    """On the left where the mail is Arabic; never over their label, nor out of their cell."""
    for mail in measured(tmp_path, "light"):
        arabic = mail["name"].endswith(("/arabic", "/two-hundred-items"))
        assert mail["figures"] or not mail["name"].startswith("order.receipt"), mail["name"]
        for figure in mail["figures"]:
            assert figure == {"left": arabic, "apart": True, "fits": True}, mail["name"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_mail_scrolls_sideways_and_every_one_can_be_read(tmp_path: Path, scheme: str) -> None:
    for mail in measured(tmp_path, scheme):
        assert mail["needed"] <= mail["width"], mail
        assert mail["shown"] > 300, mail
        assert set(mail["links"]) == {"https:"}, mail
        contrast = brightness(mail["ink"]) - brightness(mail["background"])
        assert contrast > 400 if scheme == "dark" else contrast < -400, mail
