"""Shared fixtures, and isolation of the tests from real data.

Settings read the environment once, when Django loads. So this module empties it
first, and names the settings module itself: in pyproject.toml pytest-django would load
them before this line is reached.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import BoundedSemaphore
from typing import TYPE_CHECKING

import django
import hypothesis
import pytest
from django.conf import settings

from tests.chromium import find_chromium
from tracker.server.caches import Memory

if TYPE_CHECKING:
    from django.test import Client

    from tests.services import Valkey
    from tracker.models import Member, Project

SLOW_FOLDER = Path(__file__).parent / "slow"
FOLDER = Path(tempfile.mkdtemp(prefix="seamark-tests-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)

# Set by tests/__main__.py for the second run; never a database with real data.
TEST_DATABASE_URL = os.environ.get("TEST_DATABASE_URL", "")


def isolate() -> None:
    for name in [name for name in os.environ if name.startswith("SEAMARK_")]:
        del os.environ[name]
    for name, folder in {
        "SEAMARK_DATA": "data",
        "XDG_CONFIG_HOME": "config",
        "XDG_STATE_HOME": "state",
        "XDG_DATA_HOME": "share",
    }.items():
        path = FOLDER / folder
        path.mkdir()
        os.environ[name] = str(path)
    if TEST_DATABASE_URL:
        os.environ["SEAMARK_DATABASE_URL"] = TEST_DATABASE_URL
    os.environ["DJANGO_SETTINGS_MODULE"] = "tracker.settings"
    # The browser tests' event loop runs in the thread that queries the database.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"


isolate()
# Now, and not in pytest-django's hook: a folder's conftest that is named on the
# command line is imported before any hook runs, and may need the models.
django.setup()
assert settings.DATA_FOLDER.is_relative_to(FOLDER)
# Safe password hashes are slow by design; tests/tracker/test_settings.py tests them.
settings.PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.MD5PasswordHasher",
    *settings.PASSWORD_HASHERS,
]
# In parallel test processes, which inherit this environment, pytest-django would load
# the settings too early.
os.environ.pop("DJANGO_SETTINGS_MODULE", None)


# A slow example is not a failure on a busy machine. TEST_EXAMPLES raises their number.
hypothesis.settings.register_profile(
    "patient",
    deadline=None,
    max_examples=int(os.environ.get("TEST_EXAMPLES", "50")),
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("patient")


def pytest_itemcollected(item: pytest.Item) -> None:
    # Before `-m` selects by markers.
    if SLOW_FOLDER in item.path.parents or item.get_closest_marker("processes"):
        item.add_marker(pytest.mark.slow)


# After pytest-django, which sorts them by how they use the database.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # xdist gives the first test process the first part of the list, so one process mostly
    # waits for servers while the others compute, and servers are started once.
    items.sort(key=lambda item: item.get_closest_marker("processes") is None)
    if find_chromium() is None:
        reason = "there is no chromium; install it, or name one in $CHROME"
        for item in items:
            if item.get_closest_marker("browser"):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session", autouse=True)
def _assets_as_served() -> Iterator[None]:
    """Have the live server send assets as the real one does, through our middleware."""
    from django.contrib.staticfiles import handlers

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(handlers, "StaticFilesHandler", lambda application: application)
        yield


@pytest.fixture(autouse=True)
def _one_connection() -> None:
    # After the first browser test, Playwright's event loop stays in this thread,
    # and then Django keeps another connection for it.
    from tracker.server import statements

    statements._current.connection = None


@pytest.fixture(autouse=True)
def _forgotten_overviews(monkeypatch: pytest.MonkeyPatch) -> None:
    # A test's rows are rolled back, and the next test's rows get the same ids.
    monkeypatch.setattr("tracker.series.store._overviews", Memory(2**20))


@pytest.fixture(autouse=True)
def _forgotten_downloads(monkeypatch: pytest.MonkeyPatch) -> None:
    # A test that reads only the status leaves its download open.
    from tracker.files import downloads

    slots = BoundedSemaphore(downloads.DOWNLOADS_AT_ONCE)
    monkeypatch.setattr(downloads, "_downloads", slots)


@pytest.fixture(autouse=True)
def _forgotten_recoveries(monkeypatch: pytest.MonkeyPatch) -> None:
    # Measured speedups of one test's ladders must not affect the next test.
    from tracker.queries.ladders import recoveries

    monkeypatch.setattr(recoveries, "_kept", recoveries._Kept())


@pytest.fixture(scope="session")
def browser_type_launch_args(
    browser_type_launch_args: dict[str, object],
) -> dict[str, object]:
    """Start this machine's chromium; as root it cannot be sandboxed."""
    is_root = os.geteuid() == 0
    return {
        **browser_type_launch_args,
        "executable_path": find_chromium(),
        "args": ["--no-sandbox"] if is_root else [],
    }


@pytest.fixture(scope="session")
def django_db_modify_db_settings(request: pytest.FixtureRequest) -> None:
    """Give each test process its own database; on SQLite a file, as in real use."""
    database = settings.DATABASES["default"]
    worker = getattr(request.config, "workerinput", {}).get("workerid", "main")
    if settings.IS_SQLITE:
        name = str(FOLDER / "tests.sqlite3")
    else:
        name = f"test_{database['NAME']}_{worker}"
    database.setdefault("TEST", {})["NAME"] = name


@pytest.fixture
def member(db: None) -> Member:
    """A user with a separate workspace."""
    from tests.builders import make_member

    return make_member("ada")


@pytest.fixture
def project(member: Member) -> Project:
    """A project of that user; modules may define another one."""
    from tests.builders import make_project

    return make_project(member)


@pytest.fixture
def stranger(db: None) -> Member:
    """A user of another workspace, who must not see the member's data."""
    from tests.builders import make_member

    return make_member("mallory")


@pytest.fixture
def client_of() -> Callable[[Member], Client]:
    """Return a function that creates a signed-in client."""
    from django.test import Client

    def sign_in(member: Member) -> Client:
        client = Client()
        client.force_login(member.user)
        return client

    return sign_in


@pytest.fixture
def api() -> Callable[[str], Client]:
    """Return a function that creates a client with an API key."""
    from django.test import Client

    return lambda token: Client(headers={"authorization": f"Bearer {token}"})


@pytest.fixture(scope="session")
def valkey() -> Iterator[Valkey]:
    """A real server that speaks Redis, empty at the start of the session."""
    from tests.services import Valkey

    with Valkey() as server:
        yield server
