import math

import pytest

from evaluation.example_jobs import rules_by_script
from evaluation.pairs import Pair, table
from evaluation.programs import PROGRAMS
from evaluation.recordings import read_recording
from tracker.diagnosis.rules import RULES

KNOWN = {rule.name for rule in RULES}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.script)
def test_each_program_was_recorded_with_and_without_its_fix(program):
    before, after = (
        read_recording(script.recording) for script in (program.before, program.after)
    )

    assert program.before.path.is_file()
    assert (before.case, after.case) == (program.script, f"{program.script}-fixed")
    assert set(program.rules) <= KNOWN


def test_each_example_has_a_script_a_rule_and_a_recording():
    for script, rule in rules_by_script().items():
        assert script.path.is_file()
        assert rule in KNOWN
        assert read_recording(script.recording).spools


def pair(likely, bound, achieved):
    return Pair("a", "Training waits for data", likely, bound, achieved)


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        (pair(1.2, 2.0, 1.5), "inside"),
        (pair(1.2, 2.0, 2.5), "**beyond the bound**"),
        (pair(1.2, 2.0, 1.0), "less than likely"),
        (pair(math.nan, math.nan, 1.5), "no prediction"),
    ],
)
def test_a_measured_speedup_is_compared_with_its_prediction(given, verdict):
    assert f"| {verdict} |" in table([given])
