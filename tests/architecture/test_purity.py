"""Pure modules load without any framework, checked at run time.

import-linter does not see what a parent package's __init__ imports.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

FRAMEWORKS = {"celery", "django", "psycopg", "redis"}
HEAVY = {"numpy", "torch", *FRAMEWORKS}


def loaded_by(module):
    program = f"import sys, {module}; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", program], text=True)
    return set(loaded.split())


@pytest.mark.parametrize(
    "module",
    [
        "tracker.boards.grid",
        "tracker.diagnosis.engine.diagnosis",
        "tracker.ingest.messages",
        "tracker.queries.run_query.parser",
        "tracker.records.codec",
        "tracker.records.histogram",
        "tracker.records.search",
        "tracker.series.codec",
        "tracker.series.downsample",
        "tracker.series.journal",
        "web.figures.traces",
    ],
)
def test_loads_no_framework(module):
    assert not FRAMEWORKS & loaded_by(module)


@pytest.mark.parametrize(
    "module", ["agent", "seamark.lifecycle.opening", "seamark.upload.worker"]
)
def test_the_agent_loads_neither_numpy_nor_a_framework(module):
    assert not HEAVY & loaded_by(module)


def test_making_the_environment_needs_the_standard_library_only():
    program = (
        "import sys; before = set(sys.modules); import tracker.embedded.environment;"
        "print(*(set(sys.modules) - before))"
    )
    # -S leaves out everything that was installed.
    command = [sys.executable, "-S", "-c", program]
    loaded = subprocess.check_output(command, text=True).split()

    top = {name.partition(".")[0] for name in loaded} - {"tracker"}
    assert top <= sys.stdlib_module_names
