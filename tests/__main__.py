"""Runs the checks and the tests: `python3 manage.py test`.

Without arguments: the checks and the fast tests, on SQLite, and on PostgreSQL where the two
databases differ. `--slow` runs the rest: browsers, real processes, kills, fuzzing, and the
other fast tests of stored data, except pages, on PostgreSQL. `--coverage` measures either. `--frameworks` runs the tests
against PyTorch and other frameworks in a separate environment. Other arguments are
passed to pytest.
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
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

from tests.chromium import find_chromium
from tests.debian import install
from tests.pythons import VERSIONS, missing_pythons
from tests.services import PostgreSQL
from tracker.embedded.environment import Environment

ROOT = Path(__file__).resolve().parents[1]
# One more than the two cores of the smallest machine, because tests of processes mostly wait.
PROCESSES = 3
# Programs that tests use, with the Debian package of each.
PROGRAMS = {
    "chromium": "chromium",
    "xgettext": "gettext",
    "nginx": "nginx-light",
    "caddy": "caddy",
}

# Folders and files whose spelling is checked.
SPELLED = (
    *("agent", "tracker", "web", "tests", "benchmarks", "evaluation", "examples"),
    *("docs", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "README.md"),
)

# Biome lints JavaScript and CSS; biome.json has its rules. Its package is one program,
# which PyPI has for Linux on x86-64 only.
LINT_WEB = """
import os, sys
biome = os.path.join(os.path.dirname(sys.executable), "biome")
if not os.path.exists(biome):
    sys.exit(print("NOT RUN: Biome has no package for this machine."))
os.execv(biome, ["biome", "lint", "--error-on-warnings"])
"""
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
    "scripts and styles": ["-c", LINT_WEB],
    "spelling": ["-m", "codespell_lib", *SPELLED],
    "migrations": ["manage.py", "makemigrations", "--check", "--dry-run"],
}


# Line tracing slows tests by a sixth to a half.
COVERAGE = "--coverage"
TRACED = ("--cov", "--cov-append", "--cov-report=")
# The number of slowest tests in the report.
SLOWEST = 30
SLOW = "--slow"
# The fast suite has run the fast tests that are marked `postgresql`.
SLOW_ON_POSTGRESQL = (
    "(database and not postgresql and not slow) or (postgresql and slow)"
)
SLOW_FOLDER = ROOT / "tests/slow"
# Pages touch no tables: their queries and actions have tests of their own.
WEB_TESTS = "tests/web/"
# The slow suite runs failed tests again, once and alone, and reports those that pass as flaky.
# With more failures, they are not flaky.
MAX_RERUNS = 10
FRAMEWORKS = "--frameworks"
# Several hundred megabytes; gigabytes with CUDA.
FRAMEWORK_REQUIREMENTS = ("requirements-frameworks.txt",)
FRAMEWORK_TESTS = (
    "tests/gpu",
    "tests/slow/frameworks",
    "tests/slow/recordings",
    "tests/examples",
    "tests/documentation",
)


@dataclass(frozen=True, slots=True)
class Suite:
    """One run of pytest: which files, filtered by which markers, on which database."""

    name: str
    files: tuple[str, ...]
    marks: str
    is_postgresql: bool = False
    reruns: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one suite; flaky tests failed once and passed alone."""

    suite: str
    passed: int
    skipped: int
    passed_all: bool
    seconds: float
    failed: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()

    def __str__(self) -> str:
        counts = {
            "passed": self.passed,
            "failed": len(self.failed),
            "flaky": len(self.flaky),
            "skipped": self.skipped,
        }
        result = ", ".join(f"{count} {name}" for name, count in counts.items())
        lines = [f"{self.suite:<18} {result}, {self.seconds:.0f} s"]
        for title, names in (
            ("FAILED:", self.failed),
            ("FLAKY, failed once and passed alone:", self.flaky),
        ):
            if names:
                lines += [f"  {title}", *(f"    {name}" for name in names)]
        return "\n".join(lines)


def fast_suites() -> list[Suite]:
    files = tuple(
        str(path.relative_to(ROOT))
        for path in test_files()
        if SLOW_FOLDER not in path.parents and "gpu" not in path.parts
    )
    return [
        Suite("SQLite", files, "not slow"),
        Suite(
            "PostgreSQL", files_with("mark.postgresql"), "postgresql and not slow", True
        ),
    ]


def slow_suites() -> list[Suite]:
    # pytest would import every module to find the few marked tests in them.
    marked = files_with("mark.slow", "mark.processes")
    stored = files_with("mark.database", "mark.postgresql")
    slow = (*(name for name in marked if "tests/slow" not in name), "tests/slow")
    return [
        Suite("slow, SQLite", slow, "slow", reruns=True),
        Suite(
            "slow, PostgreSQL",
            tuple(name for name in stored if not name.startswith(WEB_TESTS)),
            SLOW_ON_POSTGRESQL,
            True,
            reruns=True,
        ),
    ]


def test_files() -> list[Path]:
    return sorted((ROOT / "tests").rglob("test_*.py"))


def files_with(*markers: str) -> tuple[str, ...]:
    sources = {path: path.read_text("utf-8") for path in test_files()}
    return tuple(
        str(path.relative_to(ROOT))
        for path, source in sources.items()
        if any(marker in source for marker in markers)
    )


def main(arguments: Sequence[str]) -> int:
    os.chdir(ROOT)
    # A shell starts background jobs with SIGINT ignored; tests send it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if arguments and arguments[0] == FRAMEWORKS:
        return run_framework_tests(arguments[1:])
    if set(arguments) - {SLOW, COVERAGE}:
        return subprocess.call([sys.executable, "-m", "pytest", *arguments])
    return run_suites(is_slow=SLOW in arguments, is_traced=COVERAGE in arguments)


def run_suites(*, is_slow: bool, is_traced: bool) -> int:
    # Stop all children on SIGTERM, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="seamark-test-") as name:
        folder = Path(name)
        environment = isolated(folder)
        failed_checks = [] if is_slow else run_checks(environment)
        missing = missing_programs()
        suites = slow_suites() if is_slow else fast_suites()
        if "chromium" in missing:
            suites = [
                replace(suite, marks=f"({suite.marks}) and not browser")
                for suite in suites
            ]
        outcomes = run_tests(suites, folder, environment, is_traced=is_traced)
        coverage = f"{measured_coverage(environment)} %" if is_traced else ""

    print("\n" + "=" * 72)
    print(*outcomes, sep="\n")
    for program in missing:
        print(f"NOT RUN: tests that need {program}; install it.")
    if is_slow and find_spec("torch") is None:
        print(f"NOT RUN: tests with PyTorch and other frameworks: test {FRAMEWORKS}.")
    if is_slow:
        for version in missing_pythons():
            print(f"NOT RUN: the agent on Python {version}; install it.")
    if failed_checks:
        print(f"checks FAILED      {', '.join(failed_checks)}")
    if coverage:
        print(f"coverage           {coverage}")
    print(f"wall time          {time.monotonic() - start:.0f} s")
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
    """Return environment variables that keep this user's own data out of the tests."""
    # Without bytecode, each of the many test processes would compile all sources.
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


def missing_programs() -> list[str]:
    """Install the Debian programs that tests use; return those that are still missing."""
    for program, package in PROGRAMS.items():
        if not is_installed(program):
            print(f"Installing {package} …", flush=True)
            install(package)
    return [program for program in PROGRAMS if not is_installed(program)]


def is_installed(program: str) -> bool:
    if program == "chromium":
        return find_chromium() is not None
    return shutil.which(program) is not None


def run_tests(
    suites: Sequence[Suite],
    folder: Path,
    environment: dict[str, str],
    *,
    is_traced: bool,
) -> list[Outcome]:
    outcomes = []
    for suite in suites:
        if not suite.files:
            continue
        with ExitStack() as stack:
            variables = dict(environment)
            if suite.is_postgresql:
                server = stack.enter_context(PostgreSQL())
                variables["TEST_DATABASE_URL"] = server.url
            outcomes.append(
                run_pytest(suite, folder, variables, TRACED if is_traced else ())
            )
    return outcomes


def run_pytest(
    suite: Suite,
    folder: Path,
    environment: dict[str, str],
    options: Sequence[str],
) -> Outcome:
    print(f"\nTests: {suite.name}", flush=True)
    report = folder / f"{suite.name}.xml"
    start = time.monotonic()
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-m", suite.marks, *suite.files),
        # The usual family of reports has no place for what tests record.
        *("-o", f"cache_dir={folder / suite.name}", "-o", "junit_family=xunit1"),
        *options,
    ]
    parallel = ("-n", str(PROCESSES), "--dist", "worksteal", f"--junit-xml={report}")
    exit_code = subprocess.call(
        [*command, *parallel, f"--durations={SLOWEST}"], env=environment
    )
    again = folder / f"{suite.name} again.xml"
    if suite.reruns and 0 < len(failed_tests(report)) <= MAX_RERUNS:
        print("\nThe failed tests, again and alone", flush=True)
        alone = ("--last-failed", f"--junit-xml={again}")
        exit_code = subprocess.call([*command, *alone], env=environment)
    return outcome_of(
        suite.name, exit_code, report, again, seconds=time.monotonic() - start
    )


def outcome_of(
    name: str, exit_code: int, report: Path, again: Path, *, seconds: float
) -> Outcome:
    """Read the reports of a suite and, if there is one, of its failed tests' rerun."""
    if not report.exists():
        return Outcome(name, 0, 0, passed_all=False, seconds=seconds)

    results = read_report(report)
    first = failed_tests(report)
    failed = failed_tests(again) if again.exists() else first
    skipped = int(results.attrib["skipped"])
    return Outcome(
        name,
        passed=int(results.attrib["tests"]) - skipped - len(first),
        skipped=skipped,
        passed_all=exit_code == 0,
        seconds=seconds,
        failed=failed,
        flaky=tuple(test for test in first if test not in failed),
    )


def read_report(path: Path) -> ElementTree.Element:
    results = ElementTree.parse(path).getroot().find("testsuite")
    assert results is not None
    return results


def failed_tests(report: Path) -> tuple[str, ...]:
    """Return the names of tests that failed, or whose fixtures did, in order."""
    if not report.exists():
        return ()
    names = (
        f"{case.attrib['classname']}.{case.attrib['name']}"
        for case in read_report(report).iter("testcase")
        if case.find("failure") is not None or case.find("error") is not None
    )
    # A test whose fixture failed is listed twice.
    return tuple(dict.fromkeys(names))


def measured_coverage(environment: dict[str, str]) -> str:
    command = [sys.executable, "-m", "coverage", "report", "--format=total"]
    result = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False
    )
    return result.stdout.strip() or "unknown"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
