from __future__ import annotations

import math
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.builders import (
    make_project,
    make_run,
    write_series,
    write_tags,
    write_values,
)
from tests.web.sample_run import settle
from tracker.actions.runs.run_summaries import (
    EVERY_SOURCE,
    HARDWARE,
    gather,
    gather_everything,
)
from tracker.errors import InvalidInput
from tracker.models import Attribute, Finding, Kind, Run, Stage, State
from tracker.queries.runs.column_keys import OF_RUN
from tracker.queries.runs.filter.filters import InvalidPattern, RunFilter
from tracker.queries.runs.newest_runs import changed_params, metric_paths
from tracker.queries.runs.order import RunOrder
from tracker.queries.runs.table import runs_page

pytestmark = [pytest.mark.django_db, pytest.mark.database]

NOW = timezone.now()


def add_run(project, name, **fields) -> Run:
    return Run.objects.create(project=project, name=name, started_at=NOW, **fields)


def add_series(run, path, last=0.0, *, mean=None, count=10, **fields) -> None:
    Attribute.objects.create(
        run=run,
        project=run.project,
        path=path,
        kind=Kind.FLOAT_SERIES,
        number=last,
        count=count,
        finite_count=count,
        total=(last if mean is None else mean) * count,
        **fields,
    )
    gather([run.id], HARDWARE)


def names(project, *, paths=(), offset=0, limit=100, order=None, **wanted) -> list[str]:
    page = runs_page(
        project.id,
        wanted=RunFilter(**wanted),
        order=order or RunOrder(),
        keys=[f"path:{path}" for path in paths],
        offset=offset,
        limit=limit,
    )
    return [row.name for row in page.rows]


def only_row(project, *paths):
    page = runs_page(
        project.id,
        wanted=RunFilter(),
        order=RunOrder(),
        keys=[*(f"path:{path}" for path in paths), *OF_RUN],
        offset=0,
        limit=10,
    )
    return page.rows[0]


def only_cells(project, *keys):
    page = runs_page(
        project.id, wanted=RunFilter(), order=RunOrder(), keys=keys, limit=10
    )
    return page.rows[0].cells


def test_a_row_says_what_the_run_is_and_did(project):
    run = make_run(project, "baseline", State.FINISHED)
    write_values(run, {"params/batch_size": 32, "note": "first"})
    write_tags(run, "slow", "baseline")

    row = only_row(project, "params/batch_size", "note", "absent")

    assert (row.name, row.state) == ("baseline", State.FINISHED)
    assert row.stages == [("train", State.FINISHED)]
    assert row.tags == ["baseline", "slow"]
    assert row.cells[:3] == [32, "first", None]


def test_the_stages_are_in_the_order_they_began(project):
    run = add_run(project, "r")
    for name, minutes in [("train", 2), ("preprocess", 1)]:
        start = NOW + timedelta(minutes=minutes)
        Stage.objects.create(run=run, name=name, started_at=start)
    Stage.objects.create(run=run, name="unstarted")

    assert [name for name, _ in only_row(project).stages] == [
        "preprocess",
        "train",
        "unstarted",
    ]


def test_a_crashed_run_ended_when_it_was_last_heard_of(project):
    run = add_run(project, "r", state=State.CRASHED)

    assert only_row(project).ended_at == run.last_seen_at


def test_a_running_run_has_no_end(project):
    add_run(project, "r")

    assert only_row(project).ended_at is None


def test_shows_the_main_finding(project):
    run = make_run(project)
    Finding.objects.create(
        run=run,
        stage=run.stages.get(),
        rule="data-wait-dominates",
        is_primary=True,
        severity="warning",
        confidence=0.9,
        title="Training waits for data",
        body={},
        opened_at=NOW,
        changed_at=NOW,
    )

    assert only_row(project).main_finding.title == "Training waits for data"


def test_the_gpu_mean_is_weighted_by_how_long_each_was_watched(project):
    run = add_run(project, "r")
    add_series(run, "monitoring/train/gpu/0/utilization_percent", mean=90, count=300)
    add_series(run, "monitoring/train/gpu/1/utilization_percent", mean=30, count=100)
    add_series(run, "monitoring/train/gpu/0/memory_utilization_percent", mean=1)
    add_series(run, "other/gpu/0/utilization_percent", mean=1)

    assert only_row(project).numbers.gpu == pytest.approx(75)


def test_the_cpu_mean_is_of_the_cores_the_job_may_use(project):
    run = add_run(project, "r")
    for stage, cores, effective, count in [("pre", 4, 4, 100), ("train", 2, 8, 300)]:
        add_series(run, f"monitoring/{stage}/job/cpu_cores", mean=cores, count=count)
        Attribute.objects.create(
            run=run,
            project=run.project,
            path=f"monitoring/{stage}/facts/effective_cores",
            kind=Kind.FLOAT,
            number=effective,
        )
    gather([run.id], HARDWARE)

    assert only_row(project).numbers.cpu == pytest.approx((100 * 100 + 25 * 300) / 400)


def test_unmeasured_utilization_is_unknown(project):
    run = add_run(project, "r")
    add_series(run, "monitoring/train/job/cpu_cores", mean=4)
    add_series(run, "monitoring/train/gpu/0/utilization_percent", mean=0, count=0)

    row = only_row(project)

    assert (row.numbers.gpu, row.numbers.cpu) == (None, None)


def test_counts_all_and_those_that_match(project):
    for name in ("fast", "slow", "slower"):
        add_run(project, name)

    page = runs_page(
        project.id,
        wanted=RunFilter(text="slow"),
        order=RunOrder(),
        keys=[],
        offset=0,
        limit=1,
    )

    assert (page.total, page.matching, len(page.rows)) == (3, 2, 1)


def test_leaves_out_the_trash_and_other_projects(project, stranger):
    add_run(project, "trashed", trashed_at=NOW)
    add_run(make_project(stranger), "hidden")

    assert names(project) == []


@pytest.mark.parametrize(
    "text",
    [
        *("SLOW", "sl", "100%", "a_b", "!", "<script>", "\u202e", "__proto__"),
        *("É", "СНЕГ", "é_100%", "Ü!"),
    ],
)
def test_finds_text_in_names_and_tags_literally(project, text):
    add_run(project, f"x {text.lower()} x")
    tagged = make_run(project, "tagged")
    write_tags(tagged, f"y {text.lower()} y")
    write_tags(make_run(project, "other"), "axb", "1000")

    assert set(names(project, text=text)) == {f"x {text.lower()} x", "tagged"}


def test_filters_by_state_and_by_a_whole_tag(project):
    write_tags(make_run(project, "one", State.FINISHED), "fast")
    write_tags(make_run(project, "two", State.FAILED), "fast", "é")
    write_tags(make_run(project, "three", State.FINISHED), "faster", "FAST")

    assert set(names(project, tag="fast")) == {"one", "two"}
    assert names(project, tag="fast", state="failed") == ["two"]
    assert names(project, tag="é") == ["two"]
    assert names(project, tag="' OR 1=1 --") == []


@pytest.mark.parametrize("bad", [{"text": "a\0"}, {"tag": "\ud800"}, {"state": "done"}])
def test_refuses_a_filter_that_can_match_nothing(bad):
    with pytest.raises(InvalidInput):
        RunFilter(**bad)


@pytest.mark.parametrize("key", ["", "id", "path:", "path:a\0", "project__secret"])
def test_refuses_an_order_that_is_no_column(key):
    with pytest.raises(InvalidInput):
        RunOrder(key)


def test_orders_by_the_last_value_of_a_series(project):
    for name, last in [("b", 2.0), ("a", 1.0), ("top", math.inf)]:
        add_series(add_run(project, name), "train/loss", last)
    add_series(add_run(project, "nan"), "train/loss", None, mean=0, is_nan=True)
    add_run(project, "without")

    up = names(project, order=RunOrder("path:train/loss", is_descending=False))
    down = names(project, order=RunOrder("path:train/loss"))

    assert up == ["a", "b", "top", "nan", "without"]
    assert down == ["top", "b", "a", "nan", "without"]


def test_orders_by_a_text(project):
    for name in ("sgd", "adam"):
        write_values(make_run(project, name), {"params/optimizer": name})

    up = names(project, order=RunOrder("path:params/optimizer", is_descending=False))

    assert up == ["adam", "sgd"]


def test_a_path_that_is_no_plain_name_orders_too(project):
    path = "a'b\"c%s{}/__proto__"
    for name, value in [("a", 1.0), ("b", 2.0)]:
        write_values(make_run(project, name), {path: value})

    assert names(project, order=RunOrder(f"path:{path}")) == ["b", "a"]


def busy_and_idle(project):
    """Two runs that differ in every column."""
    idle = add_run(
        project, "A idle", state=State.FINISHED, ended_at=NOW, active_seconds=0
    )
    start = NOW + timedelta(hours=1)
    busy = add_run(project, "B busy", state=State.RUNNING)
    Run.objects.filter(id=busy.id).update(
        started_at=start, ended_at=start + timedelta(hours=2), active_seconds=60
    )
    for run, share, stages in [(idle, 10, 1), (busy, 90, 2)]:
        add_series(run, "monitoring/s/gpu/0/utilization_percent", mean=share)
        add_series(run, "monitoring/s/job/cpu_cores", mean=share / 100)
        Attribute.objects.create(
            run=run,
            project=run.project,
            path="monitoring/s/facts/effective_cores",
            kind="float",
            number=1,
        )
        items = [f"tag {share}"]
        Attribute.objects.create(
            run=run, project=run.project, path="tags", kind="string_set", items=items
        )
        for number in range(stages):
            stage = Stage.objects.create(run=run, name=f"s{number}")
        add_finding(stage, "critical" if share > 50 else "warning")
        gather([run.id], *EVERY_SOURCE)


def add_finding(stage: Stage, severity: str) -> None:
    Finding.objects.create(
        run=stage.run,
        stage=stage,
        rule="r",
        is_primary=True,
        severity=severity,
        confidence=1,
        body={},
        opened_at=NOW,
        changed_at=NOW,
    )


@pytest.mark.parametrize(
    "key",
    [
        "name",
        "state",
        "started",
        "duration",
        "wall_time",
        "stages",
        "tags",
        "finding",
        "gpu",
        "cpu",
    ],
)
def test_orders_by_every_column(project, key):
    busy_and_idle(project)
    Run.objects.create(project=project, name="?", state=State.FAILED)

    up = names(project, order=RunOrder(key, is_descending=False))
    down = names(project, order=RunOrder(key))

    assert [name for name in up if name != "?"] == ["A idle", "B busy"]
    assert [name for name in down if name != "?"] == ["B busy", "A idle"]
    if key not in ("name", "state"):
        assert up[-1] == down[-1] == "?"


def test_a_dismissed_finding_is_not_sorted_by(project):
    for name, severity in [("well", None), ("bad", "warning"), ("gone", "critical")]:
        run = make_run(project, name)
        if severity:
            add_finding(run.stages.get(), severity)
    Finding.objects.filter(run=run).update(dismissed_at=NOW)
    gather_everything(list(Run.objects.values_list("id", flat=True)))

    assert names(project, order=RunOrder("finding"))[0] == "bad"


def test_pages_follow_on_each_other(project):
    for number in range(25):
        add_run(project, f"run {number}")

    pages = [names(project, offset=offset, limit=10) for offset in (0, 10, 20, 30)]

    assert [len(page) for page in pages] == [10, 10, 5, 0]
    assert len({name for page in pages for name in page}) == 25


def test_costs_the_same_for_many_runs(project):
    def cost() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            metric_paths(project.id)
            changed_params(project.id)
            names(project, paths=["train/loss"], text="run", order=RunOrder("gpu"))
        return len(queries)

    add_run(project, "run")
    few = cost()
    for number in range(60):
        run = make_run(project, f"run {number}")
        add_series(run, "train/loss")

    assert cost() == few <= 17


def test_a_cell_holds_the_requested_summary_of_a_series(project):
    run = make_run(project)
    write_series(run, "train/loss", [3.0, 1.0, 2.0])
    settle(run)

    marks = ["path", "min", "max", "mean", "count", "first_step", "last_step"]
    cells = only_cells(project, *(f"{mark}:train/loss" for mark in marks))

    assert cells == [2.0, 1.0, 3.0, 2.0, 3, 0.0, 2.0]


def test_a_page_reads_only_the_sources_of_its_columns(project):
    make_run(project)

    with CaptureQueriesContext(connection) as few:
        only_cells(project, "path:train/loss")
    with CaptureQueriesContext(connection) as all_of_them:
        only_cells(project, *OF_RUN)

    assert len(few) < len(all_of_them)


def test_names_match_a_regular_expression_whatever_the_case(project):
    for name in ("Lr-0.1", "lr-0.01", "batch", "ÄRA"):
        make_run(project, name)

    assert set(names(project, pattern=r"^lr-\d\.\d+$")) == {"Lr-0.1", "lr-0.01"}
    assert set(names(project, pattern="[äö]ra")) == {"ÄRA"}
    assert names(project, pattern="nothing") == []
    assert names(project, pattern="^b", state="failed") == []


def test_a_bad_regular_expression_is_rejected_with_its_reason():
    with pytest.raises(InvalidPattern, match="missing \\]"):
        RunFilter(pattern="[a")
