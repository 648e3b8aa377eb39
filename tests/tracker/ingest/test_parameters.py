"""Single values are either parameters or results."""

from __future__ import annotations

import pytest

from tests.builders import (
    Process,
    make_project,
    make_run,
    points_message,
    set_message,
    write_series,
    write_values,
)
from tracker.ingest.messages import SetValue, read_message
from tracker.models import Attribute

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def run(member):
    return make_run(make_project(member))


def early(path, value):
    return {**set_message(path, value), "early": True}


def parameters(run):
    found = Attribute.objects.filter(run=run, is_parameter=True)
    return sorted(found.values_list("path", flat=True))


def log(run, *messages, process=None):
    process = process or Process(run.project, run.name)
    opening = [] if process.next_number > 1 else [[process.opening]]
    process.send(*opening, list(messages))
    return process


def test_values_set_before_the_first_point_are_parameters_whatever_their_path(run):
    log(
        run,
        early("model/width", 128.0),
        early("lr", 0.1),
        points_message("train/loss", [1.0]),
        set_message("test/accuracy", 0.9),
    )

    assert parameters(run) == ["lr", "model/width"]


@pytest.mark.parametrize(
    "path", ["config/optim/lr", "HParams/lr", "infer/config/batch", "params/lr"]
)
def test_values_in_a_namespace_of_parameters_are_parameters_at_any_time(run, path):
    write_series(run, "train/loss", [1.0])
    write_values(run, {path: 0.1, "monitoring/train/config/x": 1, "lr/config": 0.1})

    assert parameters(run) == [path]


def test_a_script_that_only_evaluates_reports_results(run):
    write_series(run, "train/loss", [1.0])
    log(run, early("test/accuracy", 0.9))

    assert parameters(run) == []


def test_a_resumed_script_keeps_its_parameters(run):
    log(run, early("model/width", 128.0), points_message("train/loss", [1.0]))
    log(run, early("model/width", 256.0))

    assert parameters(run) == ["model/width"]


def test_a_value_that_training_updates_becomes_a_result(run):
    process = log(run, early("best/accuracy", 0.0))
    assert parameters(run) == ["best/accuracy"]

    log(run, set_message("best/accuracy", 0.9), process=process)

    assert parameters(run) == []


def test_tags_and_what_the_agent_measures_are_no_parameters(run):
    log(run, early("tags", ["a"]), early("monitoring/train/facts/cores", 8))

    assert parameters(run) == []


def test_an_agent_that_does_not_report_it_is_read_too():
    golden = b"\x83\xa4path\xa2lr\xa1t\xa3set\xa5value\x01"

    assert read_message(golden) == SetValue("lr", 1)
