"""The pages in a real browser engine: they fit narrow and wide screens, and so do their frames."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from consumer.contract import kinds
from consumer.contract.asyncapi import House
from consumer.pages.handbook import DOCUMENT, handbook
from tests.unit.catalogue.shop import real_catalogue

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-sync", "--no-first-run", "--virtual-time-budget=10000", "--dump-dom",
)  # fmt: skip
WIDTHS = (375, 1200)

MEASURE = """
const pages = %s, widths = %s, found = [];
function measure(name, source, width) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `border:0;width:${width}px;height:900px`;
  document.body.append(frame);
  const page = frame.contentDocument;
  page.open(); page.write(source); page.close();  // whole at once: nothing to wait for
  const box = page.querySelector("iframe.desk")?.getBoundingClientRect();
  found.push({name, width, needed: page.documentElement.scrollWidth,
    ink: getComputedStyle(page.body).color, paper: getComputedStyle(page.body).backgroundColor,
    frame: box ? box.width : null});
  frame.remove();
}
for (const [name, source] of Object.entries(pages))
  for (const width of widths) measure(name, source, width);
document.body.textContent = "FOUND" + JSON.stringify(found) + "END";
"""


def measured(room: Path, pages: dict[str, str]) -> list[dict[str, Any]]:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("no Chromium on this machine")
    script = MEASURE % (json.dumps(pages).replace("</", "<\\/"), json.dumps(WIDTHS))
    page = room / "page.html"
    page.write_text(f'<meta charset="utf-8"><body><script>{script}</script>')
    command = [browser, *FLAGS, f"--user-data-dir={room / 'profile'}", page.as_uri()]
    output = subprocess.run(command, capture_output=True, text=True, timeout=90, check=True).stdout
    found = re.search(r"FOUND(.*)END", output, re.DOTALL)
    assert found, output[:500]
    measures: list[dict[str, Any]] = json.loads(html.unescape(found[1]))
    return measures


def _frames_empty(page: str) -> str:
    """The mails have a test of their own; dozens of frames in a frame only take time."""
    return re.sub(r'srcdoc="[^"]*"', 'srcdoc=""', page)


def brightness(colour: str) -> int:
    return sum(int(part) for part in re.findall(r"\d+", colour)[:3])


def test_no_page_of_the_handbook_scrolls_sideways(tmp_path: Path) -> None:
    files = handbook(kinds(real_catalogue()), House())
    pages = {name: _frames_empty(page) for name, page in files.items() if name != DOCUMENT}
    found = measured(tmp_path, pages)
    assert len(found) == len(pages) * len(WIDTHS)
    for page in found:
        assert page["needed"] <= page["width"], page
        assert brightness(page["paper"]) - brightness(page["ink"]) > 400, page
        if page["name"].startswith("mails/"):
            assert page["frame"] >= min(page["width"] - 60, 800), page
