"""The main result of a profile."""

from tests.tracker.diagnosis.analysis.test_code_lines import (
    DECODE,
    LOAD,
    MAIN,
    OPEN,
    tree_of,
)
from tracker.diagnosis.analysis.code_lines import line_times
from tracker.diagnosis.analysis.code_profile import ROOT, CallTree, Node
from web.pages.run_profile.headline import headline_of


def test_names_the_function_and_where_its_time_goes():
    tree = tree_of((ROOT, MAIN, 20), (0, DECODE, 10), (1, LOAD, 70))
    found = headline_of(line_times(tree))

    assert (found.function, found.place) == ("decode", "data.py:4")
    assert found.share == 0.8
    assert found.end == "PIL.ImageFile.Image.load"


def test_lines_of_a_function_count_together():
    nodes = (
        Node(ROOT, "load", "data.py", 20, 25, 25),
        Node(ROOT, "load", "data.py", 22, 35, 35),
        Node(ROOT, "main", "train.py", 7, 40, 40),
    )
    found = headline_of(line_times(CallTree(nodes, 100)))

    assert (found.function, found.place, found.share) == ("load", "data.py:20–22", 0.6)
    assert found.end == ""


def test_a_library_function_with_less_than_half_is_not_mentioned():
    tree = tree_of((ROOT, DECODE, 60), (0, LOAD, 40))

    assert headline_of(line_times(tree)).end == ""


def test_there_is_none_without_own_code():
    assert headline_of(line_times(tree_of((ROOT, OPEN, 5)))) is None
