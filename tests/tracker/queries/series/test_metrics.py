"""Importance and direction of metrics."""

import pytest

from tracker.queries.series.metrics import (
    importance,
    is_counter,
    is_good_high,
    quality_rank,
)


def test_quality_comes_before_the_rest_and_bookkeeping_last():
    paths = [
        "infer/latency_seconds",
        "train/epoch",
        "train/learning_rate",
        "train/loss",
        "train/accuracy",
        "infer/accuracy",
    ]

    assert sorted(paths, key=importance) == [
        "infer/accuracy",
        "train/accuracy",
        "train/loss",
        "infer/latency_seconds",
        "train/epoch",
        "train/learning_rate",
    ]


def test_only_whole_words_tell_what_a_path_measures():
    assert quality_rank("train/glossary") is None
    assert quality_rank("Val-Loss") is not None
    assert importance("train/steps_left") < importance("train/step")
    assert importance("train/lr") < importance("layers/block0/l1/grad_norm")


def test_names_of_frameworks_are_known():
    yolo = ["lr/pg0", "metrics/mAP50(B)", "train/box_loss", "val/box_loss"]
    search = ["search/mean_fit_time", "search/mean_test_score", "search/std_test_score"]

    assert min(yolo, key=importance) == "metrics/mAP50(B)"
    assert min(search, key=importance) == "search/mean_test_score"
    assert max(search, key=importance) == "search/std_test_score"


def test_only_what_counts_and_nothing_else_is_a_counter():
    paths = ("train/epoch", "trainer/global_step", "step", "Epochs", "x/step-count")
    others = (
        "step_seconds",
        "epoch/loss",
        "loss/total",
        "train/lr",
        "steps_per_second",
    )

    assert [path for path in paths if not is_counter(path)] == []
    assert [path for path in others if is_counter(path)] == []


@pytest.mark.parametrize(
    ("path", "is_high"),
    [
        ("val/accuracy", True),
        ("train/loss", False),
        ("loss/accuracy", True),
        ("infer/latency_seconds", False),
        ("preprocess/written_per_second", True),
        ("Val-F1", True),
        ("train/epoch", None),
        ("accuracy_loss", None),
        ("metrics/mAP50-95(B)", True),
        ("rollout/ep_rew_mean", True),
        ("search/mean_test_score", True),
        ("search/std_test_score", None),
    ],
)
def test_a_name_tells_which_end_is_the_good_one(path, is_high):
    assert is_good_high(path) is is_high
