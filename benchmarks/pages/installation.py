"""What the benchmarks of pages run on: a database to fill, a server and a browser.

`prepare` comes before anything of Django is imported, as settings read the environment
when it loads.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.request import urlopen

from playwright.sync_api import Browser, BrowserContext, ViewportSize, sync_playwright

from tests.chromium import find_chromium
from tests.services import free_port

if TYPE_CHECKING:
    from tracker.models import User

START_SECONDS = 120.0
# So long a window that has just been opened is busy with itself: it loads the menus of
# its own bar, which are pages, too. Whoever visits a page has had it open.
WINDOW_SECONDS = 3.0
# Playwright listens to errors, as developer tools do. The positions of each are then
# looked up in the source, for which V8 reads a script anew if it has not kept them: all
# of Plotly once more, which costs nobody else anything. So it keeps them.
BROWSER = ["--no-sandbox", "--js-flags=--no-enable-lazy-source-positions"]


def prepare(folder: Path | None = None) -> None:
    """Load Django on SQLite in a folder, or on the database the environment names.

    Without a folder it is a temporary one; one that is named is kept and used again.
    """
    if folder is None:
        folder = Path(tempfile.mkdtemp(prefix="seamark-benchmark-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["DJANGO_SETTINGS_MODULE"] = "tracker.settings"
    # Playwright's event loop runs in the thread that logs.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    os.environ["SEAMARK_DATA"] = str(folder)
    os.environ["SEAMARK_PORT"] = str(free_port())

    import django  # noqa: PLC0415 - not before the environment says what to load

    django.setup()

    from django.core.management import call_command  # noqa: PLC0415 - likewise
    from django.db import connection  # noqa: PLC0415 - likewise

    call_command("migrate", verbosity=0)
    version = sys.version.split()[0]
    print(f"{connection.vendor}, Python {version}, {os.cpu_count()} cores", flush=True)


@contextmanager
def server() -> Iterator[str]:
    """Run a server of one process; yield its address."""
    from django.conf import settings  # noqa: PLC0415 - loaded by prepare()

    url = f"http://127.0.0.1:{settings.PORT}"
    command = [sys.executable, "manage.py", "serve", "--workers", "1"]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            _await_answer(f"{url}/livez")
            yield url
        finally:
            process.terminate()


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_program(), args=BROWSER)
        try:
            yield browser
        finally:
            browser.close()


def signed_in(
    browser: Browser, url: str, user: User, viewport: ViewportSize
) -> BrowserContext:
    """Return a private window: it has nothing in its cache, and keeps no compiled code."""
    context = browser.new_context(
        viewport=viewport, locale="en-GB", reduced_motion="reduce"
    )
    _sign_in(context, url, user)
    context.new_page().wait_for_timeout(WINDOW_SECONDS * 1_000)
    return context


@contextmanager
def own_window(
    url: str, user: User, viewport: ViewportSize
) -> Iterator[BrowserContext]:
    """Yield a window as people have it, of a profile that is new.

    Beside what it was sent, a browser keeps in it the compiled code of scripts that it
    has run a few times.
    """
    with sync_playwright() as playwright, TemporaryDirectory() as folder:
        context = playwright.chromium.launch_persistent_context(
            folder,
            executable_path=_program(),
            args=BROWSER,
            viewport=viewport,
            locale="en-GB",
            reduced_motion="reduce",
        )
        try:
            _sign_in(context, url, user)
            context.pages[0].wait_for_timeout(WINDOW_SECONDS * 1_000)
            yield context
        finally:
            context.close()


def _sign_in(context: BrowserContext, url: str, user: User) -> None:
    from django.conf import settings  # noqa: PLC0415 - loaded by prepare()
    from django.test import Client  # noqa: PLC0415 - likewise

    client = Client()
    client.force_login(user)
    name = settings.SESSION_COOKIE_NAME
    context.add_cookies(
        [{"name": name, "value": client.cookies[name].value, "url": url}]
    )


def _program() -> str:
    program = find_chromium()
    if program is None:
        raise SystemExit("There is no chromium; install it, or name one in $CHROME.")
    return program


def _await_answer(address: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not _answers(address):
        if time.monotonic() > deadline:
            raise SystemExit("The server did not start.")
        time.sleep(0.1)


def _answers(address: str) -> bool:
    try:
        urlopen(address).close()
    except (URLError, ConnectionError):
        return False
    return True
