"""How the charts of a page are grouped."""

import pytest

from web.chart_sections import Section, chart_sections, epoch_path, namespace_of


@pytest.mark.parametrize(
    ("path", "namespace"),
    [
        pytest.param("loss", "", id="none"),
        pytest.param("train/loss", "train/", id="one part"),
        pytest.param("train/head/loss", "train/", id="only the first part"),
        pytest.param("monitoring/train/job/workers", "monitoring/train/", id="agent"),
        pytest.param("/loss", "/", id="empty part"),
    ],
)
def test_a_namespace_is_the_leading_part(path, namespace):
    assert namespace_of(path) == namespace


def test_training_comes_first_and_quality_before_bookkeeping():
    found = chart_sections(["infer/latency", "train/epoch", "train/loss"])

    assert [section.paths for section in found] == [
        ["train/loss", "train/epoch"],
        ["infer/latency"],
    ]


def test_what_the_agent_measured_comes_last_and_folded():
    found = chart_sections(["a", "monitoring/train/x", "train/loss", "train/accuracy"])

    assert found == [
        Section("train/", ["train/accuracy", "train/loss"], is_open=True),
        Section("", ["a"], is_open=True),
        Section("monitoring/train/", ["monitoring/train/x"], is_open=False),
    ]


def test_a_reader_opens_and_folds_what_they_want():
    paths = ["monitoring/train/x", "train/loss", "val/loss"]

    found = chart_sections(paths, folded=["val/"], unfolded=["monitoring/train/"])

    assert [section.is_open for section in found] == [True, False, True]
    assert all(section.is_open for section in chart_sections(paths, opens_all=True))


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        pytest.param(["epoch"], "epoch", id="alone"),
        pytest.param(["eval/epoch", "train/Epoch"], "train/Epoch", id="training's"),
        pytest.param(["train/epoch_seconds", "train/loss"], "", id="none"),
    ],
)
def test_the_series_that_counts_epochs_is_known_by_its_name(paths, expected):
    assert epoch_path(paths) == expected
