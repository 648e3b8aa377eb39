"""Figures of classifiers as Plotly JSON that pages draw."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import agent
from seamark.recording.file_contents import PLOTLY, to_content
from seamark.recording.media.curves import MAX_POINTS
from tests.agent.conftest import wait_until
from tests.agent.recording.media.test_media import records
from web.pages.run_files.previews import figure

# From the documentation of scikit-learn: an area of 0.75, an average precision of 0.83.
TRUE, SCORES = [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]


def drawn(value):
    """Return the figure as a page draws it."""
    content = to_content(value, fallback="x", name=None, media_type=None)
    assert content.media_type == PLOTLY
    found, note = figure(content.data())
    assert note == ""
    return found


def matrix(*arguments, **options):
    [trace] = drawn(agent.confusion_matrix(*arguments, **options))["data"]
    return trace["x"], trace["text"]


def test_a_matrix_counts_predictions_of_each_class():
    true, predicted = [0, 0, 1, 2, 2, 2], [0, 1, 1, 2, 2, 0]

    expected = [[1, 1, 0], [0, 1, 0], [1, 0, 2]]
    assert matrix(true, predicted) == (["0", "1", "2"], expected)
    found = drawn(agent.confusion_matrix(true, predicted))
    assert found["layout"]["title"]["text"] == "Accuracy 66.7%, 6 samples"
    assert found["data"][0]["z"][0] == [0.5, 0.5, 0]


def test_labels_name_and_order_the_classes():
    assert matrix([0, 1], [1, 1], labels=["cat", "dog", "bird"]) == (
        ["cat", "dog", "bird"],
        [[0, 1, 0], [0, 1, 0], [0, 0, 0]],
    )
    assert matrix(["b", "a"], ["b", "b"], labels=["b", "a"]) == (
        ["b", "a"],
        [[1, 0], [1, 0]],
    )
    assert matrix([5, 3], [5, 5], labels=[3, 5]) == (["3", "5"], [[0, 1], [0, 1]])


def test_scores_count_for_their_highest_class():
    scores = np.array([[0.9, 0.1], [0.2, 0.8]], np.float32)

    assert matrix(np.array([0, 0]), scores) == (["0", "1"], [[1, 1], [0, 0]])


def test_a_curve_has_its_known_area():
    [roc, chance] = drawn(agent.roc_curve(TRUE, SCORES))["data"]
    [precision] = drawn(agent.pr_curve(TRUE, SCORES))["data"]

    assert roc["name"] == "class 1 (AUC 0.750)"
    assert (roc["x"], roc["y"]) == ([0, 0, 0.5, 0.5, 1], [0, 0.5, 0.5, 1, 1])
    assert chance["name"] == "chance"
    assert precision["name"] == "class 1 (AP 0.833)"


def test_equal_scores_are_one_threshold():
    [roc, _] = drawn(agent.roc_curve([0, 1, 0, 1], [0.5] * 4))["data"]

    assert (roc["x"], roc["y"], roc["name"]) == ([0, 1], [0, 1], "class 1 (AUC 0.500)")


def test_each_class_has_a_curve():
    scores = np.eye(3)[[0, 1, 2, 1]]

    names = ["cat", "dog", "bird"]
    found = drawn(agent.roc_curve(np.array([0, 1, 2, 1]), scores, labels=names))

    assert [trace["name"] for trace in found["data"][:3]] == [
        "cat (AUC 1.000)",
        "dog (AUC 1.000)",
        "bird (AUC 1.000)",
    ]


def test_without_samples_of_both_kinds_an_area_is_undefined():
    [roc, _] = drawn(agent.roc_curve([1, 1], [0.5, 0.6]))["data"]

    assert roc["name"] == "class 1 (AUC undefined)"


def test_long_curves_are_thinned_and_keep_their_area():
    random = np.random.default_rng(0)
    true = random.integers(0, 2, 20_000)

    [roc, _] = drawn(agent.roc_curve(true, true + random.normal(size=20_000)))["data"]

    assert len(roc["x"]) == MAX_POINTS
    assert (roc["x"][0], roc["x"][-1]) == (0, 1)
    # Two normal distributions at a distance of 1: Φ(1/√2).
    area = float(roc["name"].rpartition(" ")[2].rstrip(")"))
    assert abs(area - 0.5 * (1 + math.erf(0.5))) < 0.01


INVALID = {
    "lengths": (lambda: agent.confusion_matrix([1], [1, 2]), "2 predictions for 1"),
    "nothing": (lambda: agent.confusion_matrix([], []), "0 predictions"),
    "an unknown label": (
        lambda: agent.confusion_matrix([0], [7], labels=["a"]),
        "cannot be drawn",
    ),
    "too many classes": (
        lambda: agent.confusion_matrix(range(201), range(201)),
        "200 classes",
    ),
    "a NaN": (lambda: agent.roc_curve([0, 1], [0.5, math.nan]), "not finite"),
    "texts": (lambda: agent.pr_curve(["a"], [0.5]), "cannot be drawn"),
    "a number": (lambda: agent.pr_curve(5, 0.5), "cannot be drawn"),
}


@pytest.mark.parametrize(("make", "why"), INVALID.values(), ids=INVALID)
def test_invalid_values_are_refused_where_they_are_logged(make, why):
    value = make()

    with pytest.raises(agent.UnsupportedValue, match=why):
        to_content(value, fallback="x", name=None, media_type=None)


def test_a_run_stores_one_or_one_per_step(tracker):
    with agent.init("r", monitor=False) as run:
        run["eval/confusion"] = agent.confusion_matrix([0, 1], [0, 1])
        for step in range(2):
            run["x"].append(agent.roc_curve(TRUE, [each + step for each in SCORES]))
        wait_until(lambda: len(records(tracker, "x")) == 2 and tracker.of_kind("file"))

    [message] = tracker.of_kind("file")
    assert (message["path"], message["type"]) == ("eval/confusion", PLOTLY)
    assert message["name"] == "confusion.plotly.json"
    assert [each[:3] for each in records(tracker, "x")] == [
        ("file", 0.0, PLOTLY),
        ("file", 1.0, PLOTLY),
    ]
    assert json.loads(tracker.stored[message["digest"]])["layout"]["xaxis"]
