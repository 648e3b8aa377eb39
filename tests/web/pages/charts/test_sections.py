"""Grouping of the charts of a page."""

import pytest

from web.pages.charts.sections import (
    MAX_RUNS,
    MIN_SIBLINGS,
    ONE_RUN,
    SOME_RUNS,
    Section,
    chart_sections,
    epoch_path,
    namespace_of,
    numbered_sections,
    sharing_of,
)


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


@pytest.mark.parametrize(
    ("runs", "ranks"),
    [
        pytest.param(1, [ONE_RUN], id="one run shares nothing"),
        pytest.param(2, [ONE_RUN, MAX_RUNS], id="two runs"),
        pytest.param(6, [ONE_RUN, SOME_RUNS, MAX_RUNS], id="half of the runs are most"),
    ],
)
def test_a_series_ranks_by_how_many_runs_have_it(runs, ranks):
    counts = {str(count): count for count in range(1, len(ranks) + 1)}

    assert list(sharing_of(counts, runs).values()) == ranks


def test_shared_series_and_key_metrics_come_before_those_of_one_run():
    counts = {"debug/0": 1, "debug/accuracy": 1, "train/mine": 1, "train/step_ms": 2}
    counts |= {"val/loss": 2, "aux/ratio": 2}

    found = chart_sections(counts, sharing=sharing_of(counts, 2))

    assert [path for section in found for path in section.paths] == [
        *("train/step_ms", "train/mine", "val/loss", "aux/ratio"),
        *("debug/accuracy", "debug/0"),
    ]


@pytest.mark.parametrize(
    ("pattern", "section"),
    [
        pytest.param("layers.{}", "layers.*", id="at the end"),
        pytest.param("layers.{}/attn/norm", "layers.*", id="before a slash"),
        pytest.param("grads/layers.{}.mlp.3", "grads/layers.*", id="first number"),
        pytest.param("model/h/{}/ln_1", "model/h/*", id="a part of its own"),
        pytest.param("block_{}-x", "block_*", id="underscore"),
        pytest.param("layer{}/norm", "layer*", id="no separator"),
    ],
)
def test_many_numbered_siblings_have_a_section(pattern, section):
    paths = [pattern.format(number) for number in range(MIN_SIBLINGS)]

    assert numbered_sections(paths) == dict.fromkeys(paths, section)


@pytest.mark.parametrize(
    "pattern",
    [
        "monitoring/train/gpu/{}/x",
        "conv{}x3/loss",
        "{}",
        "m/loss_{}",
        "graph{}/x",
        "acc",
    ],
)
def test_these_have_no_section_of_siblings(pattern):
    assert numbered_sections(pattern.format(n) for n in range(50)) == {}


def test_few_siblings_stay_in_their_namespace():
    paths = [f"grads/layers.{number}" for number in range(MIN_SIBLINGS - 1)]

    assert [each.namespace for each in chart_sections(paths)] == ["grads/"]


def test_siblings_start_folded_after_the_others_in_the_order_of_their_numbers():
    layers = [f"grads/layers.{number}/norm" for number in range(12)]

    found = chart_sections(["zoo/x", "grads/total", *sorted(layers)])

    assert [section.namespace for section in found] == [
        "grads/",
        "zoo/",
        "grads/layers.*",
    ]
    assert found[-1] == Section("grads/layers.*", layers, is_open=False)
    (opened,) = chart_sections(layers, unfolded=["grads/layers.*"])
    assert opened.is_open


def test_a_page_with_nothing_but_folded_sections_opens_the_first():
    layers = [f"layers/{number}/norm" for number in range(20)]
    own = ["monitoring/train/step/seconds"]

    first, second = chart_sections([*layers, *own])

    assert first.is_open
    assert not second.is_open
    [closed, _] = chart_sections([*layers, *own], folded=[first.namespace])
    assert not closed.is_open
