"""The documentation lists exactly the captured facts."""

from __future__ import annotations

import re

import pytest

from seamark.capture.choice import NAMES
from seamark.capture.environment import ALLOWED
from seamark.capture.script import find_script
from seamark.capture.sources import make_sources
from tests.agent.conftest import REPOSITORY
from tests.agent.planted import SECRETS

HOW_TO = (REPOSITORY / "docs/how-to/automatic-capture.md").read_text("utf-8")
LISTED = re.findall(
    r"`([a-z_]+/[a-z_/<>]+)`", (REPOSITORY / "docs/monitoring.md").read_text("utf-8")
)


def test_every_name_is_listed():
    assert set(re.findall(r"^\| `(\w+)` \|", HOW_TO, re.M)) == NAMES


def test_every_variable_is_listed():
    (line,) = [line for line in HOW_TO.splitlines() if line.startswith("`CUDA_*`")]

    assert re.findall(r"`([A-Z0-9_*]+)`", line) == list(ALLOWED)


def test_every_path_is_listed(tracker, run_script):
    run_script(
        "import agent, os, signal\nrun = agent.init('r')\n"
        "signal.signal(signal.SIGTERM, lambda *a: None)\n"
        "os.kill(os.getpid(), signal.SIGTERM)\nraise ValueError",
        OMP_NUM_THREADS="2",
    )

    paths = {path.split("/", 2)[2] for path in tracker.attributes()}
    plain = {re.sub(r"^(environment|signals)/.*", r"\1/<name>", path) for path in paths}
    assert {path for path in plain if not path.startswith("packages/loaded/")} <= {
        *LISTED
    }
    assert {"signals/<name>", "failure/type", "packages/list"} <= plain


def test_a_source_is_one_file_and_one_line():
    sources = make_sources(find_script())
    folder = REPOSITORY / "agent/capture"

    for name in sources:
        assert (folder / f"{name}.py").exists()
        assert name in NAMES


@pytest.mark.parametrize("least", [40])
def test_there_are_enough_planted_secrets(least):
    assert len(SECRETS) >= least
