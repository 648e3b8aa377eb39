"""Frameworks' own logger tests, run with Seamark's loggers.

Lightning's and Accelerate's tests are only in their repositories.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from tracker.server.processes import ROOT

# A watchdog, not a specification.
MAX_SECONDS = 1_800
LISTED = re.compile(r"^ALL_LOGGER_CLASSES = \(.*?^\)", re.DOTALL | re.MULTILINE)
# Lightning looks for threads that a test leaves; a run is open until its script ends.
OUR_LOGGER = """
from seamark import hooks
from seamark.frameworks.lightning import SeamarkLogger

ALL_LOGGER_CLASSES = (SeamarkLogger,)

@pytest.fixture(autouse=True)
def _finished_runs():
    yield
    for run in hooks.open_runs():
        run.finish()
"""
EXAMPLES = {
    name: re.compile(
        rf"^class {name}\(GeneralTracker\):.*?(?=^class )", re.DOTALL | re.MULTILINE
    )
    for name in ("MyCustomTracker", "MyRegisteredTracker")
}
# Their tests read an example's file, or the example, for the logged values: here they
# read the server's data.
OUR_TRACKERS = {
    "MyCustomTracker": """
from seamark.frameworks.accelerate import SeamarkTracker
from tests.agent.tracker_double import TOKEN, TrackerDouble

class Ours(SeamarkTracker):
    def __init__(self, run):
        self.server = TrackerDouble()
        os.environ.update(SEAMARK_URL=self.server.url, SEAMARK_TOKEN=TOKEN)
        super().__init__(run)

    def finish(self):
        super().finish()
        server, prefix = self.server, "params/"
        stored = {
            path: value
            for path, value in server.attributes().items()
            if not path.startswith("monitoring/")
        }
        self.config = {
            path.removeprefix(prefix): value
            for path, value in stored.items()
            if path.startswith(prefix)
        }
        self.values = {
            **{path: v for path, v in stored.items() if not path.startswith(prefix)},
            **{path: server.values(path)[-1] for path in server.paths()},
        }
        server.stop()

class MyCustomTracker(Ours):
    name = "my_custom_tracker"
    _col_names = (
        "total_loss", "iteration", "my_text",
        "learning_rate", "num_iterations", "some_boolean", "some_string",
    )

    def __init__(self, dir):
        super().__init__("custom")
        self._file = Path(dir, "log.csv")

    def finish(self):
        super().finish()
        with self._file.open("w") as file:
            writer = csv.DictWriter(file, self._col_names)
            writer.writeheader()
            # A series has numbers of one kind.
            writer.writerow({
                name: int(value) if isinstance(value, float) and value.is_integer() else value
                for name, value in {**self.config, **self.values}.items()
            })


""",
    "MyRegisteredTracker": """
class MyRegisteredTracker(Ours):
    name = "my_registered_tracker"


""",
}


class Changed(Exception):
    """A framework's tests have another form; the message has the reason."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of test results, and the names of failed tests."""

    passed: int = 0
    skipped: int = 0
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Published:
    """A framework's logger tests, and the code that adds Seamark's logger."""

    # The others are about the loggers that the framework brings.
    chosen: str
    least: int
    place: Callable[[Path, Path], Path]
    # Used if the tests do not start a server themselves.
    variables: Mapping[str, str] = field(default_factory=dict)


def place_lightning(checkout: Path, scratch: Path) -> Path:
    """Copy Lightning's tests with ours as the only logger; return the file to run."""
    shutil.copytree(checkout / "tests/tests_pytorch", scratch / "tests_pytorch")
    published = scratch / "tests_pytorch/loggers/test_all.py"
    text, found = LISTED.subn(OUR_LOGGER, published.read_text(encoding="utf-8"))
    if found != 1:
        raise Changed("its list of loggers is not where it was")
    published.write_text(text, encoding="utf-8")
    return published


def place_accelerate(checkout: Path, scratch: Path) -> Path:
    """Copy Accelerate's tests of trackers, ours in place of its examples."""
    text = (checkout / "tests/test_tracking.py").read_text(encoding="utf-8")
    for name, example in EXAMPLES.items():
        text, found = example.subn(lambda _, name=name: OUR_TRACKERS[name], text)
        if found != 1:
            raise Changed(f"its example {name} is not where it was")
    published = scratch / "test_tracking.py"
    published.write_text(text, encoding="utf-8")
    return published


PUBLISHED = {
    "lightning": Published(
        chosen="fit_test_all or pickle_all or initialization",
        least=3,
        place=place_lightning,
        variables={"SEAMARK_MODE": "offline"},
    ),
    "accelerate": Published(
        chosen="CustomTrackerTestCase or RegisterTrackerClassTest",
        least=8,
        place=place_accelerate,
    ),
}


def run_published(
    published: Published, python: str, checkout: Path, scratch: Path
) -> Counts:
    """Run a framework's tests with ours included."""
    file = published.place(checkout, scratch)
    variables = {
        "PYTHONPATH": f"{ROOT}:{scratch}",
        # Lightning looks for files that a test leaves in its folder.
        "SEAMARK_SPOOL": str(scratch.with_name(f"{scratch.name}-spool")),
        "SEAMARK_MONITOR": "no",
        **published.variables,
    }
    chosen = [str(file), "-k", published.chosen]
    return perform(python, chosen, scratch, variables)


def perform(
    python: str,
    arguments: Sequence[str],
    scratch: Path,
    variables: Mapping[str, str],
) -> Counts:
    """Run tests in the frameworks' environment; return the result."""
    report = scratch / "report.xml"
    report.unlink(missing_ok=True)
    command = ["-m", "pytest", *arguments, "-p", "no:cacheprovider", "-q"]
    kept = {
        name: v for name, v in os.environ.items() if not name.startswith("SEAMARK_")
    }
    done = subprocess.run(
        [python, *command, f"--junit-xml={report}"],
        cwd=scratch,
        env={**kept, **variables},
        capture_output=True,
        text=True,
        timeout=MAX_SECONDS,
        check=False,
    )
    if not report.exists():
        return Counts(failed=(f"no report: {(done.stdout + done.stderr)[-500:]}",))
    return counted(report.read_text(encoding="utf-8"))


def counted(report: str) -> Counts:
    """Return the counts of a pytest report (pure)."""
    passed, skipped, failed = 0, 0, []
    for case in ElementTree.fromstring(report).iter("testcase"):
        ends = {child.tag for child in case}
        if ends & {"failure", "error"}:
            failed.append(f"{case.get('classname')}::{case.get('name')}")
        elif "skipped" in ends:
            skipped += 1
        else:
            passed += 1
    return Counts(passed, skipped, tuple(failed))
