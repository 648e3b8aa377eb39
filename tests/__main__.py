"""What `python3 manage.py test` does: the checks, then all tests on both databases.

With `--coverage` it also says how much of the code they run. With `--frameworks` it runs
the tests against PyTorch and its kind instead, in an environment of their own. With other
arguments it hands them to pytest and does nothing else.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.chromium import find_chromium
from tests.debian import install
from tests.pythons import VERSIONS, missing_pythons
from tests.services import PostgreSQL
from tracker.embedded.environment import Environment

ROOT = Path(__file__).resolve().parents[1]
# As many test processes at once: of the two cores of the machine that this must be quick
# on, one more, as one of them mostly waits (tests/conftest.py says which).
PROCESSES = 3

CHECKS = {
    "ruff check": ["-m", "ruff", "check"],
    "ruff format": ["-m", "ruff", "format", "--check"],
    "mypy": ["-m", "mypy"],
    # The agent runs on Pythons that are older than the server's.
    "mypy of the agent": ["-m", "mypy", "--python-version", VERSIONS[0], "seamark"],
    "import contracts": [
        "-c",
        "import importlinter.cli as c; c.lint_imports_command()",
    ],
    "migrations": ["manage.py", "makemigrations", "--check", "--dry-run"],
}


# Tracing every line makes the tests slower by a sixth to a half, so it is asked for.
COVERAGE = "--coverage"
TRACED = ("--cov", "--cov-append", "--cov-report=")
# How many of the slowest tests are named.
SLOWEST = 30
# What fails beside others may have lacked time on a busy machine: so few are run again,
# alone. Those that then pass are named, for they are slow, or right by luck.
MOST_RUN_AGAIN = 20
NOT_TRACED = f"not measured: test {COVERAGE}"
FRAMEWORKS = "--frameworks"
# Several hundred megabytes, and gigabytes where PyTorch brings CUDA along.
FRAMEWORK_REQUIREMENTS = ("requirements-frameworks.txt",)
FRAMEWORK_TESTS = (
    "tests/slow/frameworks",
    "tests/gpu",
    "tests/slow/recordings",
    "tests/examples",
    "tests/documentation",
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many tests ran on one database, and how they ended."""

    database: str
    count: int
    failed: int
    skipped: int
    passed_all: bool
    seconds: float
    passed_alone: tuple[str, ...] = ()

    def __str__(self) -> str:
        ran = self.count - self.skipped
        result = f"{ran} tests, {self.failed} failed, {self.skipped} skipped"
        lines = [f"{self.database:<12} {result}, {self.seconds:.0f} s"]
        if self.passed_alone:
            lines.append("  failed beside other tests, and passed when run alone:")
            lines += [f"    {name}" for name in self.passed_alone]
        return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    os.chdir(ROOT)
    # Who starts this in the background of a shell has it, and all that it starts, ignore
    # Ctrl-C, which tests send.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if arguments and arguments[0] == FRAMEWORKS:
        return run_framework_tests(arguments[1:])
    is_traced = list(arguments) == [COVERAGE]
    if arguments and not is_traced:
        return subprocess.call([sys.executable, "-m", "pytest", *arguments])

    # So that whatever was started is stopped, whoever ends this.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="seamark-test-") as name:
        folder = Path(name)
        environment = isolated(folder)
        failed_checks = run_checks(environment)
        has_browser = find_or_install_browser()
        has_gettext = find_or_install_gettext()
        outcomes = run_tests(
            folder, environment, has_browser=has_browser, is_traced=is_traced
        )
        coverage = f"{measured_coverage(environment)} %" if is_traced else NOT_TRACED

    print("\n" + "=" * 72)
    print(*outcomes, sep="\n")
    if not has_browser:
        print("NOT RUN: tests in a browser. Install chromium, or name one in $CHROME.")
    if not has_gettext:
        print("NOT RUN: tests of the gathered texts. Install GNU gettext.")
    if find_spec("torch") is None:
        print(f"NOT RUN: tests with PyTorch and its kind: test {FRAMEWORKS}.")
    for version in missing_pythons():
        print(f"NOT RUN: the agent on Python {version}, which it promises. Install it.")
    checks = f"{', '.join(failed_checks)} FAILED" if failed_checks else "ok"
    print(f"checks       {checks}")
    print(f"coverage     {coverage}")
    print(f"wall time    {time.monotonic() - start:.0f} s")
    passed = not failed_checks and all(outcome.passed_all for outcome in outcomes)
    print("PASSED" if passed else "FAILED")
    return 0 if passed else 1


def run_framework_tests(arguments: Sequence[str]) -> int:
    environment = Environment(ROOT, ".venv-frameworks")
    if not environment.is_ready(FRAMEWORK_REQUIREMENTS):
        environment.make(FRAMEWORK_REQUIREMENTS)
    chosen = arguments or FRAMEWORK_TESTS
    return subprocess.call([str(environment.python), "-m", "pytest", *chosen])


def isolated(folder: Path) -> dict[str, str]:
    """Return an environment in which nothing reads or writes this user's own data."""
    # Tests start hundreds of Python programs; without bytecode, each would compile all
    # of Seamark again, and each test process all tests.
    left_out = ("DJANGO_", "SEAMARK_", "PYTHONDONTWRITEBYTECODE")
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(left_out)
    }
    return {
        **kept,
        "SEAMARK_DATA": str(folder / "data"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_STATE_HOME": str(folder / "state"),
        "COVERAGE_FILE": str(folder / "coverage"),
    }


def run_checks(environment: dict[str, str]) -> list[str]:
    failed = []
    for name, arguments in CHECKS.items():
        start = time.monotonic()
        result = subprocess.run(
            [sys.executable, *arguments],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        seconds = time.monotonic() - start
        print(f"{name:<18} {'FAILED' if result.returncode else 'ok'} {seconds:.0f} s")
        if result.returncode:
            print(result.stdout)
            failed.append(name)
        sys.stdout.flush()
    return failed


def find_or_install_browser() -> bool:
    if find_chromium() is None:
        print("No chromium here: installing Debian's …", flush=True)
        install("chromium")
    return find_chromium() is not None


def find_or_install_gettext() -> bool:
    if shutil.which("xgettext") is None:
        print("No gettext here: installing Debian's …", flush=True)
        install("gettext")
    return shutil.which("xgettext") is not None


def run_tests(
    folder: Path, environment: dict[str, str], *, has_browser: bool, is_traced: bool
) -> list[Outcome]:
    run = partial(run_pytest, folder=folder, is_traced=is_traced)
    marks = "" if has_browser else "not browser"
    outcomes = [run("SQLite", environment=environment, marks=marks)]
    marks = "database" if has_browser else "database and not browser"
    with PostgreSQL() as server:
        environment = {**environment, "TEST_DATABASE_URL": server.url}
        outcomes.append(run("PostgreSQL", environment=environment, marks=marks))
    return outcomes


def run_pytest(
    database: str,
    *,
    folder: Path,
    environment: dict[str, str],
    marks: str,
    is_traced: bool,
) -> Outcome:
    print(f"\nTests on {database}", flush=True)
    report = folder / f"{database}.xml"
    start = time.monotonic()
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-m", marks),
        *("-o", f"cache_dir={folder / database}"),
        *(TRACED if is_traced else ()),
    ]
    exit_code = subprocess.call(
        [
            *command,
            *("-n", str(PROCESSES), "--dist", "worksteal", f"--junit-xml={report}"),
            f"--durations={SLOWEST}",
        ],
        env=environment,
    )
    if not report.exists():
        return Outcome(
            database, 0, 0, 0, passed_all=False, seconds=time.monotonic() - start
        )

    suite = ElementTree.parse(report).getroot().find("testsuite")
    assert suite is not None
    failed = failed_tests(suite)
    passed_alone: tuple[str, ...] = ()
    if exit_code == pytest.ExitCode.TESTS_FAILED and (len(failed) <= MOST_RUN_AGAIN):
        print(f"\nThose that failed on {database}, alone", flush=True)
        exit_code = subprocess.call([*command, "--last-failed"], env=environment)
        passed_alone = () if exit_code else failed
    return Outcome(
        database,
        count=int(suite.attrib["tests"]),
        failed=0 if passed_alone else len(failed),
        skipped=int(suite.attrib["skipped"]),
        passed_all=exit_code == 0,
        seconds=time.monotonic() - start,
        passed_alone=passed_alone,
    )


def failed_tests(suite: ElementTree.Element) -> tuple[str, ...]:
    """Return the names of tests that failed, or whose fixtures did, in order."""
    names = (
        f"{case.attrib['classname']}.{case.attrib['name']}"
        for case in suite.iter("testcase")
        if case.find("failure") is not None or case.find("error") is not None
    )
    # One whose fixture failed too is there twice.
    return tuple(dict.fromkeys(names))


def measured_coverage(environment: dict[str, str]) -> str:
    command = [sys.executable, "-m", "coverage", "report", "--format=total"]
    result = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False
    )
    return result.stdout.strip() or "unknown"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
