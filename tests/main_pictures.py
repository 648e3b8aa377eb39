"""Pictures of the main pages, as a user's screen shows them, of a realistic project.

python3 manage.py screenshots --main FOLDER
python3 manage.py screenshots --main FOLDER --only run,compare
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import Browser

from tests.every_picture import (
    COLOURING_MS,
    DRAWING_MS,
    SCREENS,
    THEMES,
    Picture,
    index_of,
)

if TYPE_CHECKING:
    from tests.sweep_project import SweepProject
    from tracker.models import User

WORLD = "sweep"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="manage.py screenshots")
    parser.add_argument(
        "--main", type=Path, required=True, metavar="FOLDER", help="where they go"
    )
    parser.add_argument("--only", default="", help="how names of pages begin")
    options = parser.parse_args(arguments)
    only = tuple(filter(None, options.only.split(",")))

    from benchmarks.pages.installation import chromium, prepare, server

    # Not before the arguments are read: it fills a database.
    prepare()
    logging.disable(logging.WARNING)

    from tests.builders import make_member
    from tests.sweep_project import make_sweep_project

    member = make_member("ada")
    every = main_pages(make_sweep_project(member))
    addresses = {
        name: each for name, each in every.items() if name.startswith(only or "")
    }
    pictures: list[Picture] = []
    with server() as url, chromium() as browser:
        for picture, content in photographed(browser, url, member.user, addresses):
            path = options.main / picture.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            pictures.append(picture)
            sys.stdout.write(f"{picture.file}\n")
            sys.stdout.flush()
    index = options.main / "index.html"
    index.write_text(index_of(pictures), encoding="utf-8")
    sys.stdout.write(f"{len(pictures)} pictures: {index}\n")
    return 0


def main_pages(things: SweepProject) -> dict[str, str]:
    """Return the addresses of the pages that users see most, by name."""
    project = things.project
    home = f"/w/{project.workspace.slug}/{project.slug}/"
    best = f"/runs/{things.best.id}/"
    compared = ",".join(str(run.id) for run in things.compared)
    return {
        "home": "/",
        "runs": home,
        "run": best,
        "run-failed": f"/runs/{things.failed.id}/",
        "run-live": f"/runs/{things.live.id}/",
        "run-charts": f"{best}charts",
        "run-layers": f"/runs/{things.layered.id}/charts",
        "run-media": f"{best}media",
        "run-logs": f"/runs/{things.failed.id}/logs",
        "charts": f"{home}?as=charts",
        "compare": f"{home}compare?runs={compared}",
        "ladder": f"/ladders/{things.ladder_id}/",
        "dashboard": f"/dashboards/{things.dashboard_id}/",
        "report": f"/reports/{things.report_id}/",
        "gpu-hours": f"{home}gpu-hours",
        "settings": f"{home}settings",
    }


def photographed(
    browser: Browser, url: str, user: User, addresses: Mapping[str, str]
) -> Iterator[tuple[Picture, bytes]]:
    """Yield a picture of each page as far as a screen shows it."""
    from benchmarks.pages.installation import signed_in

    for screen, size in SCREENS.items():
        context = signed_in(browser, url, user, size)
        for name, address in addresses.items():
            page = context.new_page()
            page.goto(url + address)
            page.wait_for_load_state("networkidle")
            page.wait_for_timeout(DRAWING_MS)
            for theme in THEMES:
                page.emulate_media(color_scheme=theme)
                page.wait_for_timeout(COLOURING_MS)
                yield Picture(WORLD, name, screen, theme), page.screenshot()
            page.close()
        context.close()
