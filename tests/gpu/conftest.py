"""Fixtures for tests on a real NVIDIA GPU, which need no server and no browser.

Where only PyTorch, pytest and what the agent needs are installed, leave the other tests'
fixtures out: `python3 -m pytest tests/gpu --confcutdir=tests/gpu`.
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
# A test takes ten seconds at most; what starts and compiles with cold caches, longer.
LONGEST_SECONDS = 45
TOLD = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[TOLD] = []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            # PyTorch and its kind warn of each other.
            item.add_marker(pytest.mark.filterwarnings("default"))
            item.add_marker(pytest.mark.timeout(LONGEST_SECONDS))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for line in config.stash[TOLD]:
        terminalreporter.write_line(line)


@pytest.fixture
def tell(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Print a line below the results: what is measured, and not promised."""
    return request.config.stash[TOLD].append


@pytest.fixture
def run(tracker):  # noqa: F811 - the fixture
    return agent.init("r", project="p", stage="train", monitor=False, strict=True)


@pytest.fixture
def occupied():
    """A GPU that has something to do for a while, and when it is done."""
    # Here, as it skips what is collected where there is no GPU.
    from tests.gpu.workloads import Stopwatch, occupy

    occupy(1)
    watch = Stopwatch()
    with watch:
        occupy(500)
    return watch


@pytest.fixture(autouse=True)
def _card_as_it_was() -> Iterator[None]:
    """Leave the next test no work that goes on, and no memory."""
    yield
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()
        gc.collect()
        torch.cuda.empty_cache()
