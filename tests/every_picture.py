"""Screenshots of every page, with an index.

python3 manage.py screenshots --all FOLDER
python3 manage.py screenshots --all FOLDER --only run,compare

Pages come from the routes, as in tests/web/every_page.py: projects without runs, with one run
and with thousands, in both themes, on a wide screen and on a phone. A separate server shows
them from a temporary database.
"""

from __future__ import annotations

import argparse
import logging
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from html import escape
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from playwright.sync_api import Browser, BrowserContext, ViewportSize

if TYPE_CHECKING:
    from tests.web.every_page import Things
    from tracker.models import User

Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")
SCREENS: Mapping[str, ViewportSize] = {
    "wide": {"width": 1440, "height": 900},
    "phone": {"width": 390, "height": 844},
}
# Maximum height of a picture.
TALLEST = 4_000
# Pages without a session are shown to an anonymous visitor.
FOR_STRANGERS = ("sign-in", "join", "shared")
WORLDS = ("empty", "one", "thousands")
RUNS = 3_000
# Time to draw the visible charts, and to redraw them in another theme.
DRAWING_MS, COLOURING_MS = 700, 250


@dataclass(frozen=True, slots=True)
class Picture:
    """A page of a test database, on a screen and in a theme."""

    world: str
    page: str
    screen: str
    theme: str

    @property
    def file(self) -> str:
        """Return its path, which is always inside the folder."""
        named = re.sub(r"[^a-z0-9]+", "-", self.page.lower()).strip("-") or "page"
        return f"{self.world}/{named}-{self.screen}-{self.theme}.png"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="manage.py screenshots")
    parser.add_argument(
        "--all", type=Path, required=True, metavar="FOLDER", help="where they go"
    )
    parser.add_argument("--only", default="", help="how names of pages begin")
    parser.add_argument(
        "--worlds", nargs="+", choices=WORLDS, default=WORLDS, help="how much there is"
    )
    options = parser.parse_args(arguments)
    only = tuple(filter(None, options.only.split(",")))

    from benchmarks.pages.installation import chromium, prepare, server

    # Imported after the arguments are read, because it fills a database.
    prepare()
    # A request shows whether an address is a page; most are not.
    logging.disable(logging.WARNING)
    pictures: list[Picture] = []
    make = makers()
    found = {world: make[world]() for world in options.worlds}
    with server() as url, chromium() as browser:
        for world, things in found.items():
            addresses = addresses_of(things, only)
            seen = photographed(browser, url, things.member.user, addresses)
            for page, screen, theme, content in seen:
                picture = Picture(world, page, screen, theme)
                path = options.all / picture.file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
                pictures.append(picture)
                sys.stdout.write(f"{picture.file}\n")
                sys.stdout.flush()
    index = options.all / "index.html"
    index.write_text(index_of(pictures), encoding="utf-8")
    sys.stdout.write(f"{len(pictures)} pictures: {index}\n")
    return 0


def makers() -> dict[str, Callable[[], Things]]:
    """Return the function that fills each test database, by name."""
    # Tables can be imported once Django is set up.
    from django.db.models import F

    from tests.builders import make_member
    from tests.slow.browser.many_runs import add_runs
    from tests.web.every_page import make_empty, make_full, make_one
    from tracker.models import Run

    def thousands() -> Things:
        things = make_full(make_member("cleo"))
        # Older than the runs that pages show.
        before = {
            name: F(name) - timedelta(days=500)
            for name in ("created_at", "started_at", "ended_at")
        }
        add_runs(things.project, RUNS)
        added = Run.objects.filter(project=things.project, name__startswith="run 0")
        added.update(**before)
        return things

    return {
        "empty": lambda: make_empty(make_member("ada")),
        "one": lambda: make_one(make_member("ben")),
        "thousands": thousands,
    }


def addresses_of(things: Things, only: tuple[str, ...]) -> dict[str, str]:
    """Return the addresses of pages with this prefix by name; of all without a prefix."""
    from django.test import Client

    from tests.web.every_page import pages

    client = Client(HTTP_HOST="127.0.0.1")
    client.force_login(things.member.user)
    every = pages(things, client)
    return {name: each for name, each in every.items() if name.startswith(only or "")}


def photographed(
    browser: Browser, url: str, user: User, addresses: Mapping[str, str]
) -> Iterator[tuple[str, str, Theme, bytes]]:
    """Visit each page; yield its name, the screen, the theme and the picture."""
    from benchmarks.pages.installation import signed_in

    for screen, size in SCREENS.items():
        member = signed_in(browser, url, user, size)
        stranger = browser.new_context(
            viewport=size, locale="en-GB", reduced_motion="reduce"
        )
        for page, address in addresses.items():
            context = stranger if page.startswith(FOR_STRANGERS) else member
            for theme, content in visited(context, url + address, size):
                yield page, screen, theme, content
        member.close()
        stranger.close()


def visited(
    context: BrowserContext, address: str, size: ViewportSize
) -> Iterator[tuple[Theme, bytes]]:
    """Open a page and yield a full-height picture in each theme."""
    page = context.new_page()
    page.goto(address)
    page.wait_for_load_state("networkidle")
    length: Any = page.evaluate("document.documentElement.scrollHeight")
    height = max(size["height"], min(int(length), TALLEST))
    page.set_viewport_size({"width": size["width"], "height": height})
    page.wait_for_timeout(DRAWING_MS)
    page.wait_for_load_state("networkidle")
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        page.wait_for_timeout(COLOURING_MS)
        yield theme, page.screenshot()
    page.close()


def index_of(pictures: Sequence[Picture]) -> str:
    """Return an HTML page with all pictures, side by side per page."""
    return INDEX.format(count=len(pictures), rows="\n".join(_rows(pictures)))


def _rows(pictures: Sequence[Picture]) -> Iterator[str]:
    ordered = sorted(pictures, key=lambda each: (each.world, each.page))
    for (world, name), some in groupby(ordered, lambda each: (each.world, each.page)):
        shown = "".join(map(_shown, some))
        yield f"<section><h2>{escape(world)}: {escape(name)}</h2>{shown}</section>"


def _shown(picture: Picture) -> str:
    text = escape(f"{picture.screen}, {picture.theme}")
    return (
        f'<a href="{picture.file}"><figure><img src="{picture.file}" alt="{text}"'
        f' loading="lazy"><figcaption>{text}</figcaption></figure></a>'
    )


INDEX = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Every page</title>
<style>
body {{ font: 14px/1.4 system-ui, sans-serif; margin: 24px; background: #e7e9ec; color: #15181c }}
section {{ display: flex; flex-wrap: wrap; gap: 12px; margin-bottom: 28px }}
h2 {{ flex-basis: 100%; margin: 0; font-size: 15px; overflow-wrap: anywhere }}
figure {{ margin: 0 }}
img {{ height: 360px; width: auto; max-width: 100%; object-fit: cover; object-position: top; border: 1px solid #b6bcc4 }}
</style>
</head>
<body>
<h1>Every page: {count} pictures</h1>
{rows}
</body>
</html>
"""
