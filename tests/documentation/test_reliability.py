"""The page of promises names a command for each case, and commands that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import keep
from benchmarks.faults.__main__ import CASES as FAULTS
from benchmarks.faults.__main__ import NUMBERS
from benchmarks.load.__main__ import CASES as LOADS
from benchmarks.promises.cases import CASES as PROMISES

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/reliability.md"
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


@pytest.mark.parametrize("case", SHOWN)
def test_each_case_has_a_command(case):
    assert any(case in row for row in ROWS)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_is_there_and_knows_its_cases(command):
    name, *arguments = command.split()

    assert keep.source(name).is_file()
    known = {
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
