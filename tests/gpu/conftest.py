"""Fixtures for tests on a real NVIDIA GPU, which need no server and no browser.

With only PyTorch, pytest and the agent's requirements installed, leave out the fixtures of
other tests: `python3 -m pytest tests/gpu --confcutdir=tests/gpu`.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import agent
from tests.agent.conftest import (  # noqa: F401 - fixtures
    clean_environment,
    finished_runs,
    run_script,
    spool_root,
    tracker,
)

HERE = Path(__file__).parent
# A test takes at most ten seconds; with cold caches, starting and compiling take longer.
LONGEST_SECONDS = 45
TOLD = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[TOLD] = []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            # PyTorch and other frameworks warn about each other.
            item.add_marker(pytest.mark.filterwarnings("default"))
            item.add_marker(pytest.mark.timeout(LONGEST_SECONDS))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for line in config.stash[TOLD]:
        terminalreporter.write_line(line)


@pytest.fixture
def tell(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Print a measurement below the results; no test depends on it."""
    return request.config.stash[TOLD].append


@pytest.fixture
def run(tracker):  # noqa: F811 - the fixture
    return agent.init("r", project="p", stage="train", monitor=False, strict=True)


@pytest.fixture
def occupied():
    """A GPU kernel that runs for a while, with an event for its end."""
    # Imported here, because the import skips the tests without a GPU.
    from tests.gpu.workloads import Stopwatch, occupy

    occupy(1)
    watch = Stopwatch()
    with watch:
        occupy(500)
    return watch


@pytest.fixture(autouse=True)
def _card_as_it_was() -> Iterator[None]:
    """Wait for running work and free memory after each test."""
    yield
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()
        gc.collect()
        torch.cuda.empty_cache()
