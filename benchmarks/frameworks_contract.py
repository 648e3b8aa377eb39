"""Runs frameworks' own logger tests on ours.

    python -m benchmarks.frameworks_contract

Lightning's and Accelerate's tests of loggers, also third-party ones, are only in their
repositories. They are fetched for the release in `.venv-frameworks`, or `--lightning
FOLDER` and `--accelerate FOLDER` name checkouts; our loggers replace their examples.
The table also has our own tests with each real library. Exits with 1 if a test fails.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from benchmarks.agent_faults.pytorch import FRAMEWORKS, WHY
from benchmarks.peers.tables import NO, YES, safe
from tracker.server.processes import ROOT

OWN = ROOT / "tests/slow/frameworks"
# Subjects of our test files that are not named after their framework.
TRIED = {
    "test_boosting": ("xgboost-cpu", "lightgbm"),
    "test_overhead": ("torch",),
    "test_quiet": ("torch", "lightning"),
    "test_sklearn": ("scikit-learn",),
    "test_stable_baselines3": ("stable-baselines3",),
    "test_torch_trials": ("torch",),
    "test_torch_values": ("torch",),
    "test_torchrun": ("torch",),
    "test_ultralytics": ("ultralytics-opencv-headless",),
}
HEADINGS = ("tests", "of", "against", "passed", "failed", "skipped", "holds")
# A watchdog, not a specification.
MAX_SECONDS = 1_800
FETCH_SECONDS = 300
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


class NotFetched(Exception):
    """A framework's tests are not available; the message has the reason."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How many tests ended how, and the names of those that failed."""

    passed: int = 0
    skipped: int = 0
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Published:
    """A framework's tests of loggers, and how ours gets among them."""

    package: str
    words: str
    archive: str  # the repository's archive of a release
    version_file: str
    # The others are about the loggers that the framework brings.
    chosen: str
    least: int
    place: Callable[[Path, Path], Path]
    # Where its tests do not start a server of their own.
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the table; without counts it has the reason."""

    words: str
    of: str
    against: str
    counts: Counts | None
    least: int = 1
    why: str = ""

    @property
    def holds(self) -> bool | None:
        if self.counts is None:
            return None
        return not self.counts.failed and self.counts.passed >= self.least


def place_lightning(checkout: Path, scratch: Path) -> Path:
    """Copy Lightning's tests with ours as the only logger; return the file to run."""
    shutil.copytree(checkout / "tests/tests_pytorch", scratch / "tests_pytorch")
    published = scratch / "tests_pytorch/loggers/test_all.py"
    text, found = LISTED.subn(OUR_LOGGER, published.read_text(encoding="utf-8"))
    if found != 1:
        raise NotFetched("its list of loggers is not where it was")
    published.write_text(text, encoding="utf-8")
    return published


def place_accelerate(checkout: Path, scratch: Path) -> Path:
    """Copy Accelerate's tests of trackers, ours in place of its examples."""
    text = (checkout / "tests/test_tracking.py").read_text(encoding="utf-8")
    for name, example in EXAMPLES.items():
        text, found = example.subn(lambda _, name=name: OUR_TRACKERS[name], text)
        if found != 1:
            raise NotFetched(f"its example {name} is not where it was")
    published = scratch / "test_tracking.py"
    published.write_text(text, encoding="utf-8")
    return published


PUBLISHED = {
    "lightning": Published(
        package="lightning",
        words="Lightning's own tests of all loggers",
        archive="https://github.com/Lightning-AI/pytorch-lightning/archive/refs/tags/{version}.tar.gz",
        version_file="src/version.info",
        chosen="fit_test_all or pickle_all or initialization",
        least=3,
        place=place_lightning,
        variables={"SEAMARK_MODE": "offline"},
    ),
    "accelerate": Published(
        package="accelerate",
        words="Accelerate's own tests of trackers of others",
        archive="https://github.com/huggingface/accelerate/archive/refs/tags/v{version}.tar.gz",
        version_file="src/accelerate/__init__.py",
        chosen="CustomTrackerTestCase or RegisterTrackerClassTest",
        least=8,
        place=place_accelerate,
    ),
}


def main(arguments: Sequence[str]) -> int:
    options = parse(arguments)
    if not FRAMEWORKS.exists():
        print(WHY, file=sys.stderr)
        return 2
    python = str(FRAMEWORKS)
    lines = []
    with tempfile.TemporaryDirectory(prefix="seamark-contract-") as name:
        for key, published in PUBLISHED.items():
            print(f"{published.words} …", file=sys.stderr, flush=True)
            scratch = Path(name, key)
            scratch.mkdir()
            lines.append(
                of_published(published, python, getattr(options, key), scratch)
            )
        if not options.published_alone:
            for path in own_tests():
                print(f"{path.name} …", file=sys.stderr, flush=True)
                lines.append(_of_own(path, python, Path(name)))
    print(f"Python {version_of('', python)}\n")
    print(table(lines))
    for line in lines:
        for failed in line.counts.failed if line.counts else ():
            print(f"\n- failed: {failed}")
    return 1 if any(line.holds is False for line in lines) else 0


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.frameworks_contract",
        description=(__doc__ or "").splitlines()[0],
    )
    for key, published in PUBLISHED.items():
        parser.add_argument(
            f"--{key}",
            type=Path,
            metavar="FOLDER",
            help=f"a checkout of its repository, for {published.words}; without it, that"
            " of the installed release is fetched",
        )
    parser.add_argument(
        "--published-alone", action="store_true", help="without our own tests"
    )
    return parser.parse_args(arguments)


def of_published(
    published: Published, python: str, checkout: Path | None, scratch: Path
) -> Line:
    """Run a framework's tests with ours included; on failure a row with the reason."""
    installed = version_of(published.package, python)
    against = f"{published.package} {installed}"
    try:
        checkout = checkout or fetched(published, installed, scratch)
        file = published.place(checkout, scratch)
    except (NotFetched, OSError) as error:
        return Line(published.words, "", against, None, why=str(error))
    variables = {
        "PYTHONPATH": f"{ROOT}:{scratch}",
        # Lightning looks for files that a test leaves in its folder.
        "SEAMARK_SPOOL": str(scratch.with_name(f"{scratch.name}-spool")),
        "SEAMARK_MONITOR": "no",
        **published.variables,
    }
    chosen = [str(file), "-k", published.chosen]
    counts = perform(python, chosen, scratch, scratch, variables)
    of = f"{published.package} {release_of(published, checkout)}"
    return Line(published.words, of, against, counts, published.least)


def fetched(published: Published, version: str, scratch: Path) -> Path:
    """Download the repository at a release; return its folder."""
    address = published.archive.format(version=version)
    file = scratch / "archive.tar.gz"
    try:
        with (
            urllib.request.urlopen(address, timeout=FETCH_SECONDS) as answer,
            file.open("wb") as target,
        ):
            shutil.copyfileobj(answer, target)
    except (OSError, urllib.error.URLError) as error:
        raise NotFetched(f"{address}: {error}") from error
    with tarfile.open(file) as archive:
        archive.extractall(scratch / "checkout", filter="data")
    (folder,) = (scratch / "checkout").iterdir()
    return folder


def release_of(published: Published, checkout: Path) -> str:
    """Return the release of a checkout."""
    try:
        text = (checkout / published.version_file).read_text(encoding="utf-8")
    except OSError:
        return "of an unknown release"
    found = re.search(r"^(?:__version__ = \")?(\d+\.\d+[\w.]*)", text, re.MULTILINE)
    return found[1] if found else "of an unknown release"


def own_tests() -> list[Path]:
    """Return our tests against frameworks, but those of published tests."""
    return [
        path
        for path in sorted(OWN.glob("test_*.py"))
        if not path.stem.endswith("_published")
    ]


def _of_own(path: Path, python: str, scratch: Path) -> Line:
    counts = perform(python, [str(path)], scratch, ROOT, {"PYTHONPATH": str(ROOT)})
    packages = TRIED.get(path.stem, (path.stem.removeprefix("test_"),))
    against = ", ".join(f"{name} {version_of(name, python)}" for name in packages)
    return Line(f"`tests/slow/frameworks/{path.name}`", "Seamark", against, counts)


def perform(
    python: str,
    arguments: Sequence[str],
    scratch: Path,
    folder: Path,
    variables: Mapping[str, str],
) -> Counts:
    """Run tests in the frameworks' environment; return how they ended."""
    report = scratch / "report.xml"
    report.unlink(missing_ok=True)
    command = ["-m", "pytest", *arguments, "-p", "no:cacheprovider", "-q"]
    kept = {
        name: v for name, v in os.environ.items() if not name.startswith("SEAMARK_")
    }
    done = subprocess.run(
        [python, *command, f"--junit-xml={report}"],
        cwd=folder,
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


def version_of(package: str, python: str) -> str:
    """Return the version of an installed package, or of Python without one."""
    code = (
        "import json, platform, sys\n"
        "from importlib.metadata import PackageNotFoundError, version\n"
        "try: found = version(sys.argv[1]) if sys.argv[1] else platform.python_version()\n"
        "except PackageNotFoundError: found = ''\n"
        "print(json.dumps(found))"
    )
    done = subprocess.run(
        [python, "-c", code, package], capture_output=True, text=True, check=True
    )
    return str(json.loads(done.stdout))


def table(lines: Sequence[Line]) -> str:
    """Return everything as one Markdown table (pure)."""
    words = {True: YES, False: NO, None: "not shown"}
    rows = [HEADINGS, ["---"] * len(HEADINGS)]
    for line in lines:
        counts = line.counts
        numbers = (
            [str(counts.passed), str(len(counts.failed)), str(counts.skipped)]
            if counts
            else ["", "", ""]
        )
        verdict = words[line.holds] + (f": {safe(line.why)}" if line.why else "")
        rows.append([line.words, line.of, line.against, *numbers, verdict])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
