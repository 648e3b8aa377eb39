"""The frames of a flame graph."""

from tests.tracker.diagnosis.analysis.test_code_lines import (
    DECODE,
    LOAD,
    MAIN,
    OPEN,
    WAIT,
    tree_of,
)
from tracker.diagnosis.analysis.code_profile import ROOT
from web.pages.run_profile.flame_graph import flame_frames

TREE = (
    *((ROOT, MAIN, 10), (0, OPEN, 20), (1, LOAD, 10)),
    *((0, DECODE, 60),),
)


def test_calls_are_below_their_caller_the_widest_first():
    frames = flame_frames(tree_of(*TREE))

    assert [(frame.function, frame.depth, frame.samples) for frame in frames] == [
        ("main", 1, 100),
        ("decode", 2, 60),
        ("open", 2, 30),
        ("Image.load", 3, 10),
    ]
    assert [frame.before for frame in frames] == [0, 0, 0.6, 0.6]
    assert [frame.share for frame in frames] == [1, 0.6, 0.3, 0.1]
    assert [frame.place for frame in frames][1:3] == ["data.py:4", "PIL.Image"]


def test_a_frame_keeps_its_key_when_the_profile_grows():
    def keys(tree):
        return {frame.function: frame.key for frame in flame_frames(tree)}

    before, after = keys(tree_of(*TREE)), keys(tree_of(*TREE, (0, WAIT, 99)))

    assert before.items() < after.items()
    assert len(set(after.values())) == len(after)


def test_tiny_frames_are_left_out_with_their_calls():
    tree = tree_of((ROOT, MAIN, 998), (0, OPEN, 0), (1, LOAD, 1))

    assert [frame.function for frame in flame_frames(tree)] == ["main"]
