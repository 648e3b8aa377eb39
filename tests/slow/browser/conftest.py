"""A real browser on a real server, in which each unexpected error fails the test.

Tests fail if a page logs an error, violates the content security policy or sends a
request to another host.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    WebError,
    expect,
)
from pytest_django.live_server_helper import LiveServer

from tests.chromium import find_chromium

if TYPE_CHECKING:
    # Tables can be imported once Django is set up, which is after this module.
    from tracker.models import Member

# Modules of behaviors are loaded and connected; the API page has none.
CONNECTED = """() => !document.querySelector("script[src*='/web/js/main']") ||
  "connected" in document.documentElement.dataset"""
# Logged on a busy machine: a font or chart is drawn later than Chromium expects; htmx
# replaces a request that is not answered yet by the next one.
ORDINARY = ("was preloaded using link preload", "signal is aborted without reason")
QUIET_SECONDS, LONGEST_WAIT_SECONDS = 0.25, 30.0
# Its own five seconds are few on two cores that do other work.
expect.set_options(timeout=20_000)
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture(scope="session")
def browser_type_launch_args(
    browser_type_launch_args: dict[str, Any],
) -> dict[str, Any]:
    found = find_chromium()
    if found is None:
        pytest.skip("no Chromium: install it, or name one in $CHROME")
    # Its sandbox refuses to run as root, as which containers run tests.
    return {
        **browser_type_launch_args,
        "executable_path": found,
        # New pages take the process of those that are open.
        "args": ["--no-sandbox", "--process-per-site"],
    }


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    return {
        **browser_context_args,
        "viewport": WIDE,
        "locale": "en-GB",
        "timezone_id": "UTC",
        "reduced_motion": "reduce",
    }


@pytest.fixture(scope="session")
def anchor(
    browser: Browser, browser_context_args: dict[str, Any], live_server: LiveServer
) -> Iterator[Page]:
    """A page that keeps a context and its process: reloading the scripts takes seconds."""
    context = browser.new_context(**browser_context_args)
    page = context.new_page()
    page.goto(f"{live_server.url}/livez")
    yield page
    context.close()


@pytest.fixture
def context(request: pytest.FixtureRequest, anchor: Page) -> Iterator[BrowserContext]:
    """Return the shared context, or a separate one for a test with that marker."""
    if request.node.get_closest_marker("browser_context_args"):
        yield request.getfixturevalue("new_context")()
        return
    context = anchor.context
    yield context
    for page in context.pages:
        if page is not anchor:
            page.close()
    context.clear_cookies()
    context.clear_permissions()
    # Everything except the HTTP cache.
    session = context.new_cdp_session(anchor)
    origin = anchor.evaluate("location.origin")
    session.send(
        "Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"}
    )
    session.detach()


@pytest.fixture
def modules(anchor: Page) -> Page:
    """An empty page, for calls of the pages' modules: values in, values out."""
    anchor.reload()
    return anchor


class Watch:
    """Notes everything that must not happen on a page."""

    def __init__(self, context: BrowserContext, host: str) -> None:
        self.context = context
        self.host = host
        self.faults: list[str] = []
        self.awaited: set[Request] = set()
        self.last_change = time.monotonic()
        self.listeners = {
            "console": self._console,
            "weberror": self._error,
            "request": self._request,
            "requestfinished": self._answered,
            "requestfailed": self._answered,
        }
        for event, listener in self.listeners.items():
            context.on(event, listener)

    def stop(self) -> None:
        for event, listener in self.listeners.items():
            self.context.remove_listener(event, listener)

    def allow(self, part: str) -> None:
        """Expect a fault that the test causes on purpose, now or soon.

        The page may show the refusal before the console reports it.
        """
        deadline = time.monotonic() + LONGEST_WAIT_SECONDS
        while not any(part in fault for fault in self.faults):
            assert time.monotonic() < deadline, f"no fault mentions {part!r}"
            self.context.pages[0].wait_for_timeout(20)
        self.faults = [fault for fault in self.faults if part not in fault]

    def _error(self, error: WebError) -> None:
        self.faults.append(error.error.stack or str(error.error))

    def _console(self, message: ConsoleMessage) -> None:
        address = str(message.location.get("url", ""))
        # Browsers request it for pages without an icon, such as plain text.
        is_ordinary = address.endswith("/favicon.ico") or any(
            part in message.text for part in ORDINARY
        )
        if message.type in ("error", "warning") and not is_ordinary:
            self.faults.append(f"{message.type}: {message.text} at {address}")

    def wait_until_quiet(self, page: Page) -> None:
        """Wait until the page handles clicks and has no request for a short time.

        Playwright's own "networkidle" waits half a second, for each page of each test.
        """
        page.wait_for_function(CONNECTED)
        deadline = time.monotonic() + LONGEST_WAIT_SECONDS
        while self.awaited or time.monotonic() - self.last_change < QUIET_SECONDS:
            assert time.monotonic() < deadline, [each.url for each in self.awaited]
            page.wait_for_timeout(20)

    def _answered(self, request: Request) -> None:
        self.awaited.discard(request)
        self.last_change = time.monotonic()

    def _request(self, request: Request) -> None:
        self.awaited.add(request)
        self.last_change = time.monotonic()
        address = urlsplit(request.url)
        if (
            address.scheme in ("http", "https", "ws", "wss")
            and address.netloc != self.host
        ):
            self.faults.append(f"left the host: {request.url}")


@pytest.fixture
def watch(context: BrowserContext, live_server: LiveServer) -> Iterator[Watch]:
    watched = Watch(context, urlsplit(live_server.url).netloc)
    yield watched
    watched.stop()
    assert not watched.faults


@pytest.fixture
def visit(page: Page, watch: Watch, live_server: LiveServer) -> Callable[..., Page]:
    """Open an address, signed in or not, and wait until the page is loaded."""

    def open_page(path: str, member: Member | None = None) -> Page:
        if member is not None:
            sign_in(page.context, live_server.url, member)
        watch.awaited.clear()
        page.goto(f"{live_server.url}{path}")
        watch.wait_until_quiet(page)
        return page

    return open_page


def address_now(page: Page) -> str:
    """Return the address from the page; `page.url` is updated later."""
    return str(page.evaluate("location.href"))


def open_options(page: Page) -> None:
    """Open the panel of rarely used choices above compared charts."""
    options = page.locator(".compare-options")
    if options.get_attribute("open") is None:
        options.locator("summary").click()


def open_account_menu(page: Page) -> None:
    page.wait_for_function(CONNECTED)
    page.get_by_role("button", name="Account:").click()


def sign_in(context: BrowserContext, url: str, member: Member) -> None:
    from django.conf import settings
    from django.test import Client

    client = Client()
    client.force_login(member.user)
    name = settings.SESSION_COOKIE_NAME
    context.add_cookies(
        [{"name": name, "value": client.cookies[name].value, "url": url}]
    )


@pytest.fixture
def ada(transactional_db: None) -> Member:
    from tests.builders import make_member

    return make_member("ada")


# A busy machine takes its time.
WAIT_SECONDS = 30.0


def wait_until(page: Page, is_so: Callable[[], bool]) -> None:
    """Playwright's own waiting evaluates text, which the pages do not allow."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not is_so():
        assert time.monotonic() < deadline
        page.wait_for_timeout(100)
