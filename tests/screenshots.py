"""Takes the screenshots of the documentation from the runs of the demo.

python3 manage.py demo          # and, while its server is running,
python3 manage.py screenshots
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Literal, cast
from urllib.parse import urlencode

from playwright.sync_api import Page, sync_playwright

from tests.chromium import find_chromium

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs/screenshots"
# Link to a picture in the documentation: page and theme.
SHOWN = re.compile(r"screenshots/([a-z-]+)-(light|dark)\.png")
PROJECT = "/w/home/digits/"
QUERY = "state = finished and count(train/loss) > 10"
SIZE = (1360, 900)
Theme = Literal["light", "dark"]


def shown_pictures() -> set[tuple[str, Theme]]:
    """Return the page and theme of each picture that the documentation shows."""
    pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    found = {each for page in pages for each in SHOWN.findall(page.read_text("utf-8"))}
    return cast(set[tuple[str, Theme]], found)


def take(url: str, sign_in: str) -> list[Path]:
    """Sign in with the one-time link, visit the pages and store screenshots."""
    chromium = find_chromium()
    if chromium is None:
        raise SystemExit("There is no chromium; install it, or name one in $CHROME.")
    FOLDER.mkdir(parents=True, exist_ok=True)
    width, height = SIZE
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": width, "height": height})
        page.goto(sign_in)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/")
        pages = addresses(page, url)
        pictures = []
        for name, theme in sorted(shown_pictures()):
            page.emulate_media(color_scheme=theme)
            visit(page, url + pages[name])
            path = FOLDER / f"{name}-{theme}.png"
            page.screenshot(path=path)
            pictures.append(path)
        browser.close()
    return pictures


def addresses(page: Page, url: str) -> dict[str, str]:
    """Return the path of every page, by the name of its picture."""
    page.goto(f"{url}{PROJECT}ladders/")
    ladder = page.locator("main a[href^='/ladders/']").first.get_attribute("href")
    assert ladder is not None
    page.goto(url + ladder)
    links = page.locator("main a[href^='/runs/']").evaluate_all(
        "links => links.map(link => link.getAttribute('href').split('/')[2])"
    )
    runs = list(dict.fromkeys(links))
    baseline = f"/runs/{runs[0]}/"
    compare = PROJECT + "compare?" + urlencode({"runs": ",".join(runs)}, safe=",")
    return {
        "projects": "/",
        "runs": PROJECT,
        "runs-charts": PROJECT + "?as=charts",
        "runs-query": PROJECT + "?" + urlencode({"query": QUERY}),
        "run": baseline,
        "run-last-rung": f"/runs/{runs[-1]}/",
        "charts": f"{baseline}charts",
        "hardware": f"{baseline}hardware",
        "attributes": f"{baseline}attributes",
        "logs": f"{baseline}logs",
        "compare": compare,
        "compare-table": f"{compare}&tab=table",
        "compare-source": f"{compare}&tab=source",
        "compare-parallel": f"{compare}&tab=parallel",
        "compare-scatter": f"{compare}&tab=scatter",
        "compare-hardware": f"{compare}&tab=hardware",
        "compare-findings": f"{compare}&tab=findings",
        "ladders": f"{PROJECT}ladders/",
        "trash": f"{PROJECT}trash",
        "project-settings": f"{PROJECT}settings",
        "rule-settings": f"{PROJECT}settings/rules",
        "gpu-hours": f"{PROJECT}gpu-hours",
        "ladder": ladder,
        "ladder-report": f"{ladder}report",
        "rule": "/docs/rules/data-wait-dominates",
        "keys": "/account/keys",
        "api": "/api/v1/docs",
    }


def visit(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_load_state("networkidle")
    # Charts are drawn one after the other once they are in view.
    page.wait_for_timeout(1500)


def main() -> int:
    # Django is ready: manage.py has set it up.
    from django.conf import settings
    from django.urls import reverse

    from tracker.actions.access import (
        found_installation,
        make_sign_in_link,
    )
    from tracker.embedded.data_folder import running_url

    url = running_url(settings.DATA_FOLDER)
    if url is None:
        sys.exit("No server is running: run python3 manage.py demo first.")
    secret = make_sign_in_link(found_installation().user)
    for picture in take(url, url + reverse("sign-in-link", args=[secret])):
        sys.stdout.write(f"{picture}\n")
    return 0
