"""The columns and suggestions that come from the newest runs of a project."""

from __future__ import annotations

import pytest
from django.utils import timezone

from tests.builders import make_member, make_run, write_tags, write_values
from tests.web.every_page import make_finding
from tracker.models import Attribute, Diagnosis, Kind, Run
from tracker.queries.runs.newest_runs import (
    changed_params,
    metric_paths,
    project_tags,
    run_columns_in_use,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database]

NOW = timezone.now()


def add_run(project, name, **fields) -> Run:
    return Run.objects.create(project=project, name=name, started_at=NOW, **fields)


def add_series(run, path) -> None:
    Attribute.objects.create(
        run=run, project=run.project, path=path, kind=Kind.FLOAT_SERIES
    )


def test_the_metrics_shown_are_those_most_runs_logged(project):
    for number in range(3):
        run = add_run(project, f"run {number}")
        add_series(run, "train/loss")
        add_series(run, "monitoring/train/step/seconds")
    for number in range(8):
        add_series(run, f"rare/{number}")

    assert metric_paths(project.id) == ["train/loss", *(f"rare/{n}" for n in range(5))]


def test_runs_that_failed_before_they_were_validated_do_not_hide_the_quality(project):
    for number in range(5):
        run = add_run(project, f"run {number}")
        for letter in "abcdef":
            add_series(run, f"train/{letter}")
        if number:
            add_series(run, "val/accuracy")

    assert metric_paths(project.id)[0] == "val/accuracy"


def test_quality_is_shown_first_even_where_it_was_logged_once(project):
    run = make_run(project, "run")
    write_values(run, {"infer/accuracy": 0.97, "params/lr": 0.1, "infer/images": 360})
    for path in ("train/epoch", "train/loss", "infer/latency"):
        add_series(run, path)

    assert metric_paths(project.id) == [
        "infer/accuracy",
        "train/loss",
        "infer/latency",
        "train/epoch",
    ]


def test_the_parameters_shown_are_those_that_differ(project):
    for batch_size in (32, 64):
        run = make_run(project, f"run {batch_size}")
        write_values(
            run,
            {
                "params/batch_size": batch_size,
                "params/model": "resnet18",
                "params/optimizer": "adam" if batch_size == 32 else "sgd",
                "params/pinned": batch_size == 32,
                "other": batch_size,
            },
        )

    assert changed_params(project.id) == [
        "params/batch_size",
        "params/optimizer",
        "params/pinned",
    ]


def test_the_tags_offered_are_those_in_use(project):
    write_tags(make_run(project, "one"), "b", "a")
    write_tags(make_run(project, "two"), "c", "a")

    assert project_tags(project.id) == ["a", "b", "c"]


def test_columns_of_the_run_are_in_use_once_a_run_has_a_value(project):
    run = add_run(project, "run")
    assert run_columns_in_use(project.id) == set()

    write_tags(run, "baseline")
    assert run_columns_in_use(project.id) == {"tags"}

    made = make_run(project, "of a user")
    Diagnosis.objects.create(
        run=made,
        stage=made.stages.get(),
        diagnosed_at=timezone.now(),
        unanswered={"data-wait-dominates": ["step_seconds"]},
    )
    assert run_columns_in_use(project.id) == {"tags"}
    make_finding(made)
    assert run_columns_in_use(project.id) == {"tags", "finding"}


def test_the_creator_column_appears_with_two_users(project):
    make_run(project, "one")
    assert run_columns_in_use(project.id) == set()

    colleague = make_member("max", workspace=project.workspace)
    add_run(project, "two", made_by=colleague.user)

    assert run_columns_in_use(project.id) == {"made_by"}
