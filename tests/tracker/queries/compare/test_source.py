"""Source code and packages of two runs as texts."""

from __future__ import annotations

import pytest

from tests.builders import make_project, make_run, write_values
from tracker.queries.compare.source import chosen_stage, source_parts, stages_of

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def runs(member):
    project = make_project(member)
    return [make_run(project, name, "finished") for name in ("a", "b")]


def parts(runs, stage="train"):
    return {part.name: part for part in source_parts(*runs, stage)}


def test_an_option_and_its_value_share_a_line(runs):
    line = "python train.py --lr 0.1 --amp 'a b' --out=x last"
    write_values(runs[0], {"monitoring/train/source/arguments": line})

    (part,) = parts(runs).values()

    assert part.left == "python\ntrain.py\n--lr 0.1\n--amp 'a b'\n--out=x\nlast"
    assert part.right is None


def test_a_command_line_with_an_open_quotation_is_split_anyway(runs):
    write_values(runs[0], {"monitoring/train/source/arguments": "a 'b"})

    assert parts(runs)["arguments"].left == "a\n''\"'\"'b'"


def test_parameters_packages_and_environment_are_lines(runs):
    write_values(
        runs[1],
        {
            "params/lr": 0.1,
            "params/amp": True,
            "monitoring/train/packages/list": "numpy==2.0",
            "monitoring/train/environment/OMP_NUM_THREADS": "4",
        },
    )

    found = {name: part.right for name, part in parts(runs).items()}

    assert found == {
        "configuration": "amp = true\nlr = 0.1",
        "packages": "numpy==2.0",
        "environment": "OMP_NUM_THREADS = 4",
    }


def test_without_a_stage_parameters_are_compared(runs):
    write_values(runs[0], {"params/lr": 1})

    assert list(parts(runs, stage=None)) == ["configuration"]


def test_the_stage_that_trains_is_compared_unless_another_is_asked_for(runs):
    write_values(runs[0], {"x": 1}, stage="preprocess")
    stages = stages_of([run.id for run in runs])

    assert stages == {"preprocess": 1, "train": 2}
    assert chosen_stage(stages, "") == "train"
    assert chosen_stage(stages, "preprocess") == "preprocess"
    assert chosen_stage({}, "x") is None
