"""The page of promises names a command for each case, and commands that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import keep
from benchmarks.agent_faults.__main__ import NAMES as AGENT_FAULTS
from benchmarks.faults.__main__ import CASES as FAULTS
from benchmarks.faults.__main__ import NUMBERS
from benchmarks.load.__main__ import CASES as LOADS
from benchmarks.promises.cases import CASES as PROMISES

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reliability.md"
KEPT = ROOT / "docs/benchmarks/agent-faults.md"
CASE = re.compile(r"CF-\d\d")
# Rows of tables that name a command.
ROWS = [
    line
    for line in PAGE.read_text("utf-8").splitlines()
    if line.startswith("|") and "`benchmarks." in line
]
COMMANDS = sorted(
    {
        found
        for row in ROWS
        for found in re.findall(r"`benchmarks\.([a-z._]+(?: [^`]*)?)`", row)
    }
)
SHOWN = [
    *(f"SF-{number:02}" for number in range(1, 9)),
    *(f"BI-{number:02}" for number in (*range(1, 9), 10, 16)),
    *(f"LD-{number:02}" for number in (1, 2, 3, 4, 5, 7)),
]
# CF-30 is a soak of three days, and CF-32 about releases that are yet to come.
OF_AGENT = [f"CF-{number:02}" for number in (*range(1, 30), 31, 33, 34)]
# Cases of the agent without kept figures, and why. The list shrinks.
NOT_KEPT: dict[str, str] = {}


@pytest.mark.parametrize("case", [*SHOWN, *OF_AGENT])
def test_each_case_has_a_command(case):
    assert any(case in row for row in ROWS)


def test_each_case_of_the_agent_is_one_that_its_benchmark_knows():
    assert set(OF_AGENT) <= set(AGENT_FAULTS)


def test_a_row_of_the_agent_names_the_cases_that_its_command_runs():
    rows = {row: _agent_cases(row) for row in ROWS if "`benchmarks.agent_faults" in row}

    assert rows
    for row, run in rows.items():
        promise = row.split("|")[1]
        assert set(CASE.findall(promise)) == run, row


def test_each_case_of_the_agent_has_figures_that_are_kept_or_a_reason():
    rows = [line for line in KEPT.read_text("utf-8").splitlines() if "| CF-" in line]
    kept = {case for row in rows for case in CASE.findall(row.split("|")[1])}

    # What is kept needs no reason any more.
    assert set(OF_AGENT) - kept == set(NOT_KEPT)
    assert all(NOT_KEPT.values())


def _agent_cases(row: str) -> set[str]:
    commands = re.findall(r"`benchmarks\.agent_faults ([^`]*)`", row)
    return {case for command in commands for case in CASE.findall(command)}


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_is_there_and_knows_its_cases(command):
    name, *arguments = command.split()

    assert keep.source(name).is_file()
    known = {
        "agent_faults": AGENT_FAULTS,
        "faults": {**FAULTS, **NUMBERS},
        "load": LOADS,
        "promises": PROMISES,
    }.get(name)
    cases = [word for word in arguments if re.match(r"[A-Za-z]", word)]
    assert known is None or set(cases) <= set(known)


@pytest.mark.parametrize(
    "test", sorted({test for case in PROMISES.values() for test in case.tests})
)
def test_what_shows_a_promise_is_a_test_that_there_is(test):
    path, _, name = test.partition("::")

    assert f"def {name or 'test_'}" in (ROOT / path).read_text("utf-8")
