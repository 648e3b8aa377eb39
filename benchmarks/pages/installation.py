"""Environment of page benchmarks: a database to fill, a server and a browser.

Call `prepare` before importing Django modules: settings read the environment when they
load.
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
# A new window loads its own toolbar menus, which are pages, for this long. A user's
# window is already open.
WINDOW_SECONDS = 3.0
# Playwright reads errors like developer tools, and looks up their positions in the
# source. If V8 has not kept these positions, it parses the script again: all of Plotly,
# which does not happen for users.
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
    """Return a private window, with an empty cache and without compiled code."""
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
    """Yield a normal window with a new profile.

    In addition to the cache, it keeps compiled code of scripts that ran a few times.
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
