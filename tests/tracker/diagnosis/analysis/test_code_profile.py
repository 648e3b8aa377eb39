import json
import sys

import pytest

from seamark.probes.process.call_tree import CallTree, profile_text
from tracker.diagnosis.analysis.code_profile import parse_profile

NAMES = [["<module>", "train.py", 9], ["load", "data.py", 4], ["open", "PIL.Image", 0]]


def text(**changed):
    profile = {
        "version": 1,
        "samples": {"steps": 12},
        "names": NAMES,
        "trees": {"steps": [-1, 0, 2, 0, 1, 3, 1, 2, 5]},
    }
    return json.dumps({**profile, **changed})


def test_totals_include_the_calls():
    tree = parse_profile(text())["steps"]
    assert [(node.samples, node.total) for node in tree.nodes] == [
        (2, 10),
        (3, 8),
        (5, 5),
    ]
    assert tree.samples == 12
    assert [node.function for node in tree.stack(2)] == ["<module>", "load", "open"]
    assert [node.is_library for node in tree.nodes] == [False, False, True]


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "[]",
        text(version=2),
        text(trees={"steps": [-1, 0]}),
        text(trees={"steps": [0, 0, 1]}),
        text(trees={"steps": [-1, 9, 1]}),
        text(trees={"steps": [-1, 0, -1]}),
        text(trees={"steps": [-1, 0, 0]}),
        text(names=[[1, 2, 3]]),
        text(trees={"steps": [-1, 0, 1] * 2_000}),
    ],
)
def test_what_is_not_a_profile_has_no_trees(broken):
    assert parse_profile(broken) == {}


def test_the_text_of_the_agent_is_read():
    tree = CallTree()
    tree.add(sys._getframe())
    read = parse_profile(profile_text({"start": tree}, ""))["start"]
    assert read.samples == 1
    assert read.nodes[-1].function == "test_the_text_of_the_agent_is_read"
