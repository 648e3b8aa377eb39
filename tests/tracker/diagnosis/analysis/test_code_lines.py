import json

import pytest

from tracker.diagnosis.analysis.code_lines import (
    FrameKind,
    kind_of,
    line_times,
    time_by_kind,
)
from tracker.diagnosis.analysis.code_profile import ROOT, Node, parse_profile

NAMES = [
    ["main", "train.py", 9],
    ["decode", "data.py", 4],
    ["open", "PIL.Image", 0],
    ["Image.load", "PIL.ImageFile", 0],
    ["Condition.wait", "threading", 0],
]
MAIN, DECODE, OPEN, LOAD, WAIT = range(5)


def tree_of(*triples, samples=0):
    values = [value for triple in triples for value in triple]
    text = json.dumps(
        {
            "version": 1,
            "samples": {"steps": samples},
            "names": NAMES,
            "trees": {"steps": values},
        }
    )
    return parse_profile(text)["steps"]


def test_a_line_has_the_samples_of_its_library_calls():
    tree = tree_of((ROOT, MAIN, 1), (0, DECODE, 2), (1, OPEN, 1), (2, LOAD, 6))
    first, second = line_times(tree)

    assert (first.function, first.file, first.line) == ("decode", "data.py", 4)
    assert (first.samples, first.share) == (9, 0.9)
    assert first.end.name == "PIL.ImageFile.Image.load"
    assert first.end.share == pytest.approx(6 / 9)
    assert (second.line, second.samples, second.own_samples) == (9, 1, 1)
    assert second.end is None


def test_calls_of_a_line_from_several_places_are_one():
    tree = tree_of(
        *((ROOT, DECODE, 0), (0, LOAD, 2)),
        *((ROOT, MAIN, 0), (2, DECODE, 1), (3, LOAD, 3)),
    )
    (line,) = line_times(tree)

    assert line.samples == 6
    assert line.end.share == pytest.approx(5 / 6)


def test_samples_outside_of_the_user_s_code_have_no_line():
    (line,) = line_times(tree_of((ROOT, OPEN, 0), (0, LOAD, 3)))

    assert (line.file, line.line, line.samples) == ("", 0, 3)


def test_rare_places_that_were_left_out_count_as_time():
    (line,) = line_times(tree_of((ROOT, MAIN, 30), samples=40))

    assert line.share == 0.75


@pytest.mark.parametrize(
    ("function", "module", "kind"),
    [
        ("Condition.wait", "threading", FrameKind.WAITING),
        ("Queue.get", "queue", FrameKind.WAITING),
        ("Queue.get", "multiprocessing.queues", FrameKind.WAITING),
        ("Work.wait", "torch.distributed.distributed_c10d", FrameKind.WAITING),
        ("wait", "mypackage.threading", FrameKind.PACKAGE),
        ("Dataset.get", "datasets.queue", FrameKind.PACKAGE),
        ("awaited", "threading", FrameKind.PACKAGE),
    ],
)
def test_functions_that_wait_are_known_by_module_and_name(function, module, kind):
    assert kind_of(Node(ROOT, function, module, 0, 1, 1)) is kind


def test_the_user_s_own_code_never_waits():
    assert kind_of(Node(ROOT, "wait", "threading", 7, 1, 1)) is FrameKind.OWN


def test_time_is_split_by_where_the_samples_end():
    tree = tree_of((ROOT, MAIN, 1), (0, LOAD, 2), (0, WAIT, 5), samples=10)

    assert time_by_kind(tree) == {"own": 0.1, "package": 0.2, "waiting": 0.5}
