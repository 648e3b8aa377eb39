import json

import pytest

from tests.builders import make_run, write_series, write_values
from tracker.queries.run.attributes import paths_of_texts
from tracker.queries.run.code_profile import (
    ScriptText,
    profile_places,
    read_profile,
    script_text,
)
from tracker.queries.run.run import run_overview

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.postgresql]

NAMES = [
    ["<module>", "train.py", 3],
    ["decode", "data.py", 42],
    ["open", "PIL.Image", 0],
    ["Condition.wait", "threading", 0],
    ["load", "torch.serialization", 0],
]
# The module calls all others; `decode` calls `open`.
STEPS = [-1, 0, 5, 0, 1, 10, 1, 2, 60, 0, 3, 25]
START = [-1, 0, 10, 0, 4, 20]


def profile(**changed):
    return json.dumps(
        {
            "version": 1,
            "samples": {"start": 30, "steps": 100},
            "names": NAMES,
            "trees": {"start": START, "steps": STEPS},
            **changed,
        }
    )


def write_profile(run, text=None, *, stage="train", rank=0):
    below = f"/rank-{rank}" if rank else ""
    path = f"monitoring/{stage}{below}/facts/code_profile"
    write_values(run, {path: text or profile()}, stage=stage, rank=rank)


@pytest.fixture
def run(project):
    return make_run(project)


def test_profiles_are_listed_by_stage_and_rank(run):
    for stage, rank in (("train", 16), ("train", 8), ("train", 0), ("a/b rank-2", 0)):
        write_profile(run, stage=stage, rank=rank)

    found = [(place.stage, place.rank) for place in profile_places(run)]

    assert found == [("a/b rank-2", 0), ("train", 0), ("train", 8), ("train", 16)]


def test_other_attributes_are_no_profile(run):
    write_series(run, "monitoring/train/facts/code_profile", [1.0])
    write_values(run, {"params/facts/code_profile": "x", "code_profile": "x"})

    assert profile_places(run) == []


def test_the_trees_of_a_place_are_read(run):
    write_profile(run)
    (place,) = profile_places(run)

    trees = read_profile(run, place)

    assert {name: tree.samples for name, tree in trees.items()} == {
        "start": 30,
        "steps": 100,
    }


@pytest.mark.parametrize("text", ["{", "null", profile(version=9), profile(trees={})])
def test_a_malformed_profile_has_no_trees(run, text):
    write_profile(run, text)

    assert read_profile(run, profile_places(run)[0]) == {}


def test_the_script_s_lines_are_found_by_the_names_that_the_sdk_reports(run):
    captured = {
        "script": "/home/ada/job/train.py",
        "folder": "/home/ada",
        "text": "a\n b\n",
    }
    write_values(
        run,
        {f"monitoring/train/source/{name}": text for name, text in captured.items()},
    )
    script = script_text(run, "train")

    for file in ("job/train.py", "./job/train.py", "/home/ada/job/train.py"):
        assert script.line(file, 2) == "b"
    for file, line in (("train.py", 2), ("data.py", 2), ("job/train.py", 9)):
        assert script.line(file, line) == ""


def test_a_script_outside_of_the_folder_is_named_by_its_end():
    script = ScriptText("/opt/jobs/train.py", "/home/ada", ["x = 1"])

    assert script.line("jobs/train.py", 1) == "x = 1"


def test_without_a_captured_script_there_are_no_lines(run):
    script = script_text(run, "train")

    assert script.line("", 1) == script.line("train.py", 1) == ""


def test_a_profile_is_no_fact_of_the_machine_and_not_searched(run):
    write_profile(run)

    assert not [path for path in run_overview(run).facts if "code_profile" in path]
    assert paths_of_texts(run, "PIL.Image") == []
