from __future__ import annotations

import pytest

from tests.builders import (
    make_member,
    make_project,
    make_run,
    write_series,
    write_values,
)
from tracker.queries.run import paths
from tracker.queries.run.paths import PathRow, paths_beginning

pytestmark = [pytest.mark.django_db, pytest.mark.database, pytest.mark.postgresql]


@pytest.fixture
def project(member):
    project = make_project(member)
    for name in ("one", "two"):
        run = make_run(project, name)
        write_series(run, "train/loss", [1.0])
        write_values(run, {"train/lr": 0.1, "trainable": True, "Train/x": 1, "été": 1})
        write_values(run, {"train_%/y": 1, "a": 1, "z": 1})
    write_values(
        make_run(make_project(make_member("eve")), "elsewhere"), {"train/secret": 1}
    )
    return project


def test_lists_each_path_once_with_its_kind(project):
    found = paths_beginning(project.id, "train/")

    assert found == [
        PathRow("train/loss", "float_series"),
        PathRow("train/lr", "float"),
    ]


@pytest.mark.parametrize(
    ("prefix", "count"),
    [
        *(("", 8), ("train", 4), ("train_", 1), ("T", 1), ("é", 1), ("q", 0)),
        *(("%", 0), ("_", 0), ("\0", 0), ("\ud800", 0), ("'; --", 0)),
    ],
)
def test_only_those_that_begin_so(project, prefix, count):
    found = [row.path for row in paths_beginning(project.id, prefix)]

    assert len(found) == len(set(found)) == count
    assert all(path.startswith(prefix) for path in found)


def test_only_those_of_a_kind(project):
    found = paths_beginning(project.id, "", kind="float_series")

    assert [row.path for row in found] == ["train/loss"]


def test_looks_at_no_more_than_it_may(project, monkeypatch):
    monkeypatch.setattr(paths, "PATHS_LOOKED_AT", 3)

    assert len(paths_beginning(project.id, "")) == 3


def test_a_project_without_runs_has_none(member):
    assert paths_beginning(make_project(member, "empty").id, "") == []
