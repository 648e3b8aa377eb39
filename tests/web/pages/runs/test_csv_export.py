from __future__ import annotations

import csv
import io
import math
from http import HTTPStatus

import pytest

from tests.builders import make_run, write_tags, write_values
from tests.tracker.queries.ledgers import add_ledger

pytestmark = pytest.mark.django_db

DANGEROUS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"]


@pytest.fixture
def download(member, client_of, project):
    def read(**query) -> list[list[str]]:
        address = f"/w/{project.workspace.slug}/{project.slug}/runs.csv"
        answer = client_of(member).get(address, query)
        assert answer.status_code == HTTPStatus.OK
        text = b"".join(answer.streaming_content).decode()
        return list(csv.reader(io.StringIO(text, newline="")))

    return read


def test_holds_the_columns_runs_and_order_that_are_shown(download, project):
    runs = {}
    for name, loss in [("a", 0.25), ("b", 0.5), ("c", 2.0)]:
        runs[name] = make_run(project, name)
        write_values(runs[name], {"loss": loss})

    head, *rows = download(
        sort="-path:loss", query="loss < 1", column=["path:loss", "state"]
    )

    assert head == ["name", "loss", "state", "id"]
    assert rows == [
        ["b", "0.5", "running", str(runs["b"].id)],
        ["a", "0.25", "running", str(runs["a"].id)],
    ]


def test_has_the_usual_columns_where_none_are_chosen(download, project):
    write_tags(make_run(project, "a"), "x", "y")

    head, row = download()

    assert head[:4] == ["name", "state", "stages", "started"]
    assert row[head.index("tags")] == "x, y"
    assert row[head.index("stages")] == "train: running"


@pytest.mark.parametrize("text", DANGEROUS, ids=repr)
def test_no_text_is_a_formula(download, project, text):
    run = make_run(project, f"={text}")
    write_values(run, {"note": text, f"@{text.strip()}": text})
    write_tags(run, text)

    head, row = download(column=["path:note", "tags", f"path:@{text.strip()}"])

    assert row[1:4] == [f"'{text}"] * 3
    assert row[0].startswith("'=")
    assert head[3].startswith("'@")


def test_a_negative_number_stays_a_number(download, project):
    write_values(make_run(project), {"x": -1.5, "nan": math.nan, "yes": True})

    _, row = download(column=["path:x", "path:nan", "path:yes", "path:absent"])

    assert row[1:5] == ["-1.5", "nan", "true", ""]


def test_is_longer_than_what_is_read_at_once(download, project, monkeypatch):
    monkeypatch.setattr("web.pages.runs.csv_export.ROWS_AT_ONCE", 2)
    for number in range(5):
        make_run(project, f"r{number}")

    _, *rows = download(sort="name", column="state")

    assert [row[0] for row in rows] == [f"r{number}" for number in range(5)]


@pytest.mark.parametrize(
    ("most", "last"),
    [(2, ["# These are the first 2 runs; there are more."]), (3, None)],
)
def test_of_very_many_runs_it_is_said_that_some_are_missing(
    download, project, monkeypatch, most, last
):
    monkeypatch.setattr("web.pages.runs.csv_export.MAX_RUNS", most)
    runs = [make_run(project, name) for name in ("a", "b", "c")]

    _, *rows = download(sort="name", column="state")

    assert len(rows) == 3
    assert rows[-1] == (last or ["c", rows[-1][1], str(runs[-1].id)])


def test_of_a_grouped_table_the_groups_are_told(download, project):
    for number, (name, loss) in enumerate([("a", 1.0), ("b", 3.0), ("c", math.nan)]):
        run = make_run(project, name)
        values = {"params/lr": 0.1 if number < 2 else 0.2, "params/note": "text"}
        write_values(run, {**values, "train/loss": loss, "size": number})
    make_run(project, "without")

    head, *rows = download(
        group="path:params/lr",
        column=["state", "path:train/loss", "path:params/note", "path:size"],
    )

    assert head == [
        *("params/lr", "runs", "runs with train/loss", "mean of train/loss"),
        *("lowest train/loss", "highest train/loss", "best train/loss"),
        *("runs with size", "mean of size", "lowest size", "highest size"),
    ]
    assert rows == [
        ["0.1", "2", "2", "2.0", "1.0", "3.0", "1.0", "2", "0.5", "0.0", "1.0"],
        ["0.2", "1", "", "", "", "", "", "1", "2.0", "2.0", "2.0"],
        ["", "1", *[""] * 9],
    ]


def test_numbers_of_the_run_are_among_those_of_its_group(download, project):
    for name, idle in [("a", 900.0), ("b", 2_700.0)]:
        add_ledger(make_run(project, name), computing=3_600.0 - idle, idle=idle)

    head, row = download(group="made_by", column=["gpu_idle", "gpu_hours", "energy"])

    assert dict(zip(head, row, strict=True)) == {
        "created by": "ada",
        "runs": "2",
        "runs with gpu idle (%)": "2",
        "mean of gpu idle (%)": "50.0",
        "lowest gpu idle (%)": "25.0",
        "highest gpu idle (%)": "75.0",
        "best gpu idle (%)": "25.0",
        "runs with gpu hours": "2",
        "mean of gpu hours": "1.0",
        "lowest gpu hours": "1.0",
        "highest gpu hours": "1.0",
    }


def test_groups_are_those_of_the_runs_that_are_found(download, project):
    for name in ("a", "b"):
        write_values(make_run(project, name), {"params/lr": name})

    _, *rows = download(group=["path:params/lr", "state"], q="b", column="state")

    assert rows == [["b", "running", "1"]]


@pytest.mark.parametrize("text", DANGEROUS, ids=repr)
def test_no_value_of_a_group_is_a_formula(download, project, text):
    write_values(make_run(project), {f"@{text.strip()}": text})

    head, row = download(group=f"path:@{text.strip()}")

    assert head[0] == f"'@{text.strip()}"
    assert row[0] == f"'{text}"


def test_of_very_many_groups_it_is_said_that_some_are_missing(
    download, project, monkeypatch
):
    monkeypatch.setattr("web.pages.runs.csv_export.MAX_GROUPS", 2)
    for name in ("a", "b", "c"):
        write_values(make_run(project, name), {"params/lr": name})

    _, *rows = download(group="path:params/lr", column="state")

    assert len(rows) == 3
    assert rows[-1] == ["# These are the 2 largest groups; there are more."]


def test_what_cannot_be_grouped_by_is_refused(member, client_of, project):
    address = f"/w/{project.workspace.slug}/{project.slug}/runs.csv"

    answer = client_of(member).get(address, {"group": "duration"})

    assert answer.status_code == HTTPStatus.BAD_REQUEST


def test_a_mistake_in_the_query_is_refused(member, client_of, project):
    address = f"/w/{project.workspace.slug}/{project.slug}/runs.csv"

    answer = client_of(member).get(address, {"query": "a <"})

    assert answer.status_code == HTTPStatus.BAD_REQUEST
