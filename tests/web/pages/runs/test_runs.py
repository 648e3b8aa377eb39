from __future__ import annotations

import json
import re
from datetime import timedelta
from html import unescape
from http import HTTPStatus
from urllib.parse import parse_qs
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.builders import (
    make_member,
    make_project,
    make_run,
    write_series,
    write_tags,
    write_values,
)
from tests.web.every_page import make_finding
from tests.web.sample_run import settle
from tracker.models import Fork, Role, Run

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def signed_in(member, client_of):
    return client_of(member)


@pytest.fixture
def address(project):
    return f"/w/{project.workspace.slug}/{project.slug}/"


def keys(signed_in, address) -> list[str]:
    block = signed_in.get(f"{address}runs.json").json()
    return [column["key"] for column in block["columns"]]


def rows(signed_in, address, **query) -> list[dict]:
    return signed_in.get(f"{address}runs.json", query).json()["rows"]


def test_the_page_comes_with_its_first_rows(signed_in, address, project):
    make_run(project, "baseline")

    response = signed_in.get(address)
    block = json.loads(
        response.content.decode()
        .split('id="first-block" type="application/json">')[1]
        .split("</script>")[0]
    )

    assert block["rows"] == rows(signed_in, address)
    assert block["rows"][0]["name"] == "baseline"


def test_a_run_says_since_when_it_is_silent(signed_in, address, project):
    heard = timezone.now() - timedelta(minutes=5)
    for name, state in [("silent", "running"), ("ended", "finished"), ("live", None)]:
        run = make_run(project, name, state or "running")
        if state:
            Run.objects.filter(id=run.id).update(last_seen_at=heard)

    found = {row["name"]: row["silent"] for row in rows(signed_in, address)}

    milliseconds = round(heard.timestamp() * 1_000)
    assert found == {"silent": milliseconds, "ended": None, "live": None}


def test_what_is_answered_of_a_silent_run_stays_the_same(signed_in, address, project):
    run = make_run(project, "silent")
    heard = timezone.now() - timedelta(minutes=5)
    Run.objects.filter(id=run.id).update(last_seen_at=heard)

    first, second = (signed_in.get(f"{address}runs.json") for _ in range(2))

    assert first.json()["rows"][0]["silent"] is not None
    assert first["ETag"] == second["ETag"]


def test_runs_on_top_come_with_every_block_whatever_is_asked_for(
    signed_in, address, project, member
):
    first, second = make_run(project, "first"), make_run(project, "second")
    trashed = make_run(project, "trashed")
    trashed.trashed_at = trashed.created_at
    trashed.save()
    elsewhere = make_run(make_project(member, "elsewhere"), "elsewhere")
    write_values(second, {"params/lr": 0.1})
    top = [str(run.id) for run in (second, trashed, elsewhere, first)]

    asked = {"top": top, "query": 'name = "first"', "column": "path:params/lr"}
    block = signed_in.get(f"{address}runs.json", asked).json()

    assert [row["name"] for row in block["rows"]] == ["first"]
    assert [row["name"] for row in block["top"]] == ["second", "first"]
    assert [row["values"] for row in block["top"]] == [[0.1], [None]]
    mistaken = signed_in.get(f"{address}runs.json", {**asked, "query": "("}).json()
    assert mistaken["top"] == block["top"]
    assert signed_in.get(f"{address}runs.json").json()["top"] == []


@pytest.mark.parametrize("top", [["no id"], [str(UUID(int=n)) for n in range(7)]])
def test_what_cannot_be_on_top_is_refused(signed_in, address, top):
    answer = signed_in.get(f"{address}runs.json", {"top": top})

    assert answer.status_code == HTTPStatus.BAD_REQUEST


def test_a_project_without_runs_says_how_to_log_one(signed_in, address, project):
    html = signed_in.get(address).content.decode()

    assert f"project=&quot;{project.slug}&quot;" in html
    assert "first-block" not in html


def test_those_who_may_log_are_offered_a_token_for_this_workspace(
    member, signed_in, client_of, address, settings
):
    settings.PUBLIC_URL = "https://tracker.example.org"
    viewer = client_of(make_member("bob", "viewer", workspace=member.workspace))

    for client, is_offered in ((signed_in, True), (viewer, False)):
        html = client.get(address).content.decode()
        shown = "export SEAMARK_URL=https://tracker.example.org" in html
        assert shown is is_offered
        assert ("Create key" in html) is is_offered


@pytest.mark.parametrize(
    "page", ["", "runs.json", "runs.csv", "columns.json", "groups.json?group=state"]
)
def test_a_colleague_may_look_and_a_stranger_finds_nothing(
    page, member, stranger, client_of, project
):
    make_run(project)
    address = f"/w/{project.workspace.slug}/{project.slug}/{page}"
    viewer = make_member("bob", "viewer", workspace=member.workspace)

    assert client_of(viewer).get(address).status_code == HTTPStatus.OK
    assert client_of(stranger).get(address).status_code == HTTPStatus.NOT_FOUND


def test_only_those_who_may_change_ladders_are_offered_one(
    member, signed_in, client_of, address, project
):
    make_run(project)
    viewer = client_of(make_member("bob", "viewer", workspace=member.workspace))

    assert b"Create ladder" in signed_in.get(address).content
    assert b"Create ladder" not in viewer.get(address).content


def test_filter_and_order_come_from_the_address(signed_in, address, project):
    for name, tag in [("a", "x"), ("b", "x"), ("c", "y")]:
        write_tags(make_run(project, name), tag)

    found = rows(signed_in, address, q="", tag="x", sort="name")

    assert [row["name"] for row in found] == ["a", "b"]
    page = signed_in.get(address, {"tag": "x"}).content
    assert b'<input type="hidden" name="tag" value="x">' in page


@pytest.mark.parametrize(
    "query",
    [
        {"sort": "secret"},
        {"column": "secret"},
        {"column": "path:"},
        {"column": [f"path:{number}" for number in range(51)]},
        {"sort": ["name", "state", "started", "ended", "created"]},
        {"within": ["a = 1"] * 5},
        {"state": "done"},
        {"offset": "-1"},
        {"offset": "1e9"},
        {"q": "\0"},
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused(signed_in, address, project, query):
    make_run(project)

    response = signed_in.get(
        f"{address}runs.json", query, headers={"accept": "application/json"}
    )

    assert response.status_code == HTTPStatus.BAD_REQUEST
    assert response.json()["error"]["code"] == "invalid_input"


def test_what_has_not_changed_is_not_sent_again(signed_in, address, project):
    run, page = make_run(project), f"{address}runs.json?column=tags"
    tag = signed_in.get(page)["ETag"]

    unchanged = signed_in.get(page, headers={"if-none-match": tag})
    write_tags(run, "new")
    changed = signed_in.get(page, headers={"if-none-match": tag})

    assert unchanged.status_code == HTTPStatus.NOT_MODIFIED
    assert not unchanged.content
    assert changed.status_code == HTTPStatus.OK
    assert changed["ETag"] != tag


def test_values_of_every_type_are_told_apart(signed_in, address, project):
    values = {
        "float": 0.5,
        "nan": float("nan"),
        "infinite": float("inf"),
        "integer": 7,
        "large": 2**60,
        "yes": True,
        "text": "NaN",
    }
    run = make_run(project)
    write_values(run, {f"params/{name}": value for name, value in values.items()})
    other = make_run(project, "other")
    write_values(other, {"params/float": 1.0, "params/text": "x", "params/integer": 8})

    block = signed_in.get(f"{address}runs.json", {"sort": "-name"}).json()

    keys = [column["key"] for column in block["columns"]]
    shown = dict(zip(keys, block["rows"][1]["values"], strict=True))
    assert block["rows"][1]["name"] == "baseline"
    assert shown["path:params/float"] == 0.5
    assert shown["path:params/text"] == "NaN"
    assert shown["path:params/integer"] == 7


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (float("nan"), {"special": "NaN"}),
        (float("-inf"), {"special": "\u2212∞"}),
        (2**60, {"special": "1,152,921,504,606,846,976"}),
        ("<b>", "<b>"),
        (None, {"none": True}),
    ],
)
def test_what_json_cannot_say_has_a_form_of_its_own(
    signed_in, address, project, value, cell
):
    write_values(make_run(project, "one"), {"params/x": value})
    write_values(
        make_run(project, "two"),
        {"params/x": type(value)(3) if isinstance(value, int | float) else "other"},
    )

    query = {"q": "one", "column": "path:params/x"}
    block = signed_in.get(f"{address}runs.json", query).json()

    assert block["rows"][0]["values"] == [cell]


def test_no_path_becomes_a_key(signed_in, address, project):
    for number, name in enumerate(["__proto__", "constructor", "toString"]):
        run = make_run(project, name)
        write_values(run, {f"params/{name}": number, "params/__proto__": name})

    block = signed_in.get(f"{address}runs.json").json()

    assert all(isinstance(row["values"], list) for row in block["rows"])
    assert {"key": "path:params/__proto__", "kind": "param"} in block["columns"]


def test_a_blocks_cost_does_not_grow(
    signed_in, address, project, django_assert_max_num_queries
):
    for number in range(40):
        write_tags(make_run(project, f"run {number}"), "x")

    with django_assert_max_num_queries(20):
        signed_in.get(f"{address}runs.json", {"q": "run", "tag": "x", "sort": "-gpu"})


def test_a_hostile_name_cannot_leave_its_data(signed_in, address, project):
    name = "</script><script>alert(1)</script>"
    make_run(project, name)

    html = signed_in.get(address).content.decode()

    assert "<script>alert" not in html
    assert rows(signed_in, address)[0]["name"] == name


def test_a_query_is_kept_in_the_field_and_finds_runs(signed_in, address, project):
    for name, loss in [("a", 0.1), ("b", 0.9)]:
        write_values(make_run(project, name), {"test/loss": loss})
    query = 'test/loss < 0.5 and name ~ "A"'

    assert [row["name"] for row in rows(signed_in, address, query=query)] == ["a"]
    html = signed_in.get(address, {"query": query}).content.decode()
    assert 'value="test/loss &lt; 0.5 and name ~ &quot;A&quot;"' in html


def test_a_mistake_in_a_query_is_shown_with_the_page(signed_in, address, project):
    make_run(project)

    block = signed_in.get(f"{address}runs.json", {"query": "a << 3"}).json()

    assert (block["rows"], block["matching"], block["total"]) == ([], 0, 1)
    assert (block["mistake"]["position"], block["mistake"]["length"]) == (3, 1)
    assert block["mistake"]["message"]
    assert signed_in.get(address, {"query": "a << 3"}).status_code == HTTPStatus.OK


def test_the_columns_are_those_the_address_chooses(signed_in, address, project):
    run = make_run(project)
    write_series(run, "train/loss", [4.0, 1.0, 2.0])
    settle(run)
    chosen = [
        *("mean:train/loss", "state", "path:train/loss", "min:train/loss"),
        *("gpu_hours", "made_by", "path:absent", "tags", "duration"),
    ]

    block = signed_in.get(f"{address}runs.json", {"column": chosen}).json()

    assert [column["key"] for column in block["columns"]] == chosen
    values = dict(zip(chosen, block["rows"][0]["values"], strict=True))
    assert values["mean:train/loss"] == pytest.approx(7 / 3)
    assert (values["path:train/loss"], values["min:train/loss"]) == (2.0, 1.0)
    assert (values["state"], values["made_by"], values["tags"]) == (
        "running",
        "ada",
        [],
    )
    assert values["path:absent"] is None


def test_parameters_come_before_the_finding_and_empty_columns_are_hidden(
    signed_in, address, project
):
    for rate in (0.1, 0.2):
        run = make_run(project, f"rate {rate}")
        write_values(run, {"params/rate": rate, "val/accuracy": 0.9})
    assert keys(signed_in, address) == [
        *("started", "duration"),
        *("path:val/accuracy", "path:params/rate"),
    ]

    make_finding(run)
    write_tags(run, "best")
    assert keys(signed_in, address) == [
        *("started", "duration", "tags"),
        *("path:val/accuracy", "path:params/rate", "finding"),
    ]


def test_several_columns_sort(signed_in, address, project):
    for name, lr, loss in [("a", 1, 0.3), ("b", 2, 0.1), ("c", 1, 0.2)]:
        write_values(make_run(project, name), {"lr": lr, "loss": loss})

    found = rows(signed_in, address, sort=["-path:lr", "path:loss"])

    assert [row["name"] for row in found] == ["b", "c", "a"]


@pytest.fixture
def family(project):
    search, first, second = (
        make_run(project, name) for name in ("search", "first", "second")
    )
    for rate, child in enumerate((first, second)):
        write_values(child, {"params/rate": rate})
        Run.objects.filter(id=child.id).update(parent=search)
    return search


def shown(signed_in, address, **query) -> list[tuple]:
    """Return names with the number of children, or the parent."""
    found = rows(signed_in, address, sort="name", **query)
    return [(row["name"], row.get("children"), row.get("parent")) for row in found]


def test_children_are_read_below_their_parent(signed_in, address, family):
    block = signed_in.get(f"{address}runs.json").json()
    assert (block["nested"], block["matching"], block["total"]) == (True, 1, 3)

    assert shown(signed_in, address) == [("search", 2, None)]
    below = shown(signed_in, address, parent=family.id)
    assert below == [("first", None, None), ("second", None, None)]


@pytest.mark.parametrize(
    "query",
    [{"query": "exists params/rate"}, {"children": "flat"}, {"as": "charts"}],
    ids=["filter", "flat", "charts"],
)
def test_runs_of_all_levels_say_their_parents(signed_in, address, family, query):
    found = shown(signed_in, address, **query)

    children = [row for row in found if row[2]]
    assert children == [("first", None, "search"), ("second", None, "search")]


def test_children_of_a_run_in_the_trash_have_no_parent(signed_in, address, family):
    Run.objects.filter(id=family.id).update(trashed_at=timezone.now())

    assert shown(signed_in, address) == [("first", None, None), ("second", None, None)]
    assert shown(signed_in, address, parent=family.id) == []


def test_forks_link_to_their_source(signed_in, address, project):
    source, other = make_run(project, "base"), make_run(project, "fork")
    Fork.objects.create(run=other, source=source, step=40.0)

    found = {row["name"]: row.get("fork") for row in rows(signed_in, address)}

    link = {"name": "base", "url": f"/runs/{source.id}/", "step": 40.0}
    assert found == {"base": None, "fork": link}
    block = signed_in.get(f"{address}runs.json", {"top": str(other.id)}).json()
    assert [row["fork"] for row in block["top"]] == [link]


def test_the_source_of_a_fork_in_the_trash_or_elsewhere_is_not_named(
    signed_in, address, project, member
):
    source, other = make_run(project, "base"), make_run(project, "fork")
    Fork.objects.create(run=other, source=source, step=40.0)
    elsewhere = make_project(member, "elsewhere")

    for change in ({"trashed_at": timezone.now()}, {"project": elsewhere}):
        Run.objects.filter(id=source.id).update(trashed_at=None)
        Run.objects.filter(id=source.id).update(**change)
        found = rows(signed_in, address)
        assert [row.get("fork") for row in found] == [None]


def test_a_family_costs_the_same_for_many_runs(
    signed_in, address, project, family, django_assert_max_num_queries
):
    with CaptureQueriesContext(connection) as few:
        rows(signed_in, address)
    for number in range(30):
        child = make_run(project, f"run {number}")
        if number % 2:
            Run.objects.filter(id=child.id).update(parent=family)

    with django_assert_max_num_queries(len(few)):
        assert len(rows(signed_in, address)) == 16


@pytest.mark.parametrize("parent", ["no id", "1"])
def test_a_parent_that_is_no_id_is_refused(signed_in, address, parent):
    answer = signed_in.get(f"{address}runs.json", {"parent": parent})
    assert answer.status_code == HTTPStatus.BAD_REQUEST


def test_groups_and_the_runs_in_them(signed_in, address, project):
    for name, optimizer, loss in [("a", "x", 0.1), ("b", "y", 0.3), ("c", "x", 0.5)]:
        values = {"params/optimizer": optimizer, "test/loss": loss}
        write_values(make_run(project, name), values)
    asked = {"group": "path:params/optimizer", "column": "path:test/loss"}

    found = signed_in.get(f"{address}groups.json", asked).json()

    assert (found["matching"], found["keys"]) == (3, ["path:params/optimizer"])
    assert [group["values"] for group in found["groups"]] == [["x"], ["y"]]
    [count, _, lowest, highest, best] = found["groups"][0]["numbers"][0]
    assert (count, lowest, highest, best) == (2, 0.1, 0.5, 0.1)
    within = found["groups"][0]["query"]
    inside = rows(signed_in, address, within=within, query="test/loss > 0.2")
    assert [row["name"] for row in inside] == ["c"]


def test_a_page_in_groups_comes_with_them(signed_in, address, project):
    for name, optimizer in [("a", "x"), ("b", "y"), ("c", "x")]:
        write_values(make_run(project, name), {"params/optimizer": optimizer})

    page = signed_in.get(address, {"group": "path:params/optimizer", "q": "a"})

    first = page.context["first_groups"]
    assert [(group["values"], group["count"]) for group in first["groups"]] == [
        (["x"], 1)
    ]
    assert first["matching"] == 1


def test_a_page_says_nothing_of_groups_that_cannot_be(signed_in, address, project):
    make_run(project)

    for asked in ({}, {"group": "nothing"}, {"group": "state", "query": "a <"}):
        page = signed_in.get(address, asked)
        assert page.status_code == 200
        assert page.context["first_groups"] is None


def test_a_mistake_in_the_query_is_no_error_of_groups(signed_in, address, project):
    make_run(project)

    found = signed_in.get(f"{address}groups.json", {"group": "state", "query": "a <"})

    assert found.status_code == HTTPStatus.OK
    assert found.json()["mistake"]["message"]


def test_columns_are_found_by_any_part_of_their_path(signed_in, address, project):
    write_values(
        make_run(project),
        {
            "train/loss": 1.0,
            "params/lr": 2,
            "x": "y",
            "monitoring/train/facts/code_profile": "a long text",
        },
    )

    def found(text) -> list[str]:
        answer = signed_in.get(f"{address}columns.json", {"search": text})
        return [path for path, _ in answer.json()["paths"]]

    assert found("LOSS") == ["train/loss"]
    assert found("param") == ["params/lr"]
    assert set(found("")) >= {"train/loss", "params/lr", "x"}
    assert found("\0") == []
    assert found("%") == []
    assert found("profile") == found("monitoring/train/facts/c") == []


@pytest.fixture
def charted(signed_in, address):
    """Return a function that requests the charts of runs like their list."""

    def ask(*runs, **query) -> str:
        ids = ",".join(str(run.id) for run in runs)
        response = signed_in.get(f"{address}runs/charts", {"runs": ids, **query})
        assert response.status_code == HTTPStatus.OK
        return response.content.decode()

    return ask


def charts_in(html: str) -> list[str]:
    return re.findall(r'data-behaviour="chart"[^>]* data-key="([^"]*)"', html)


def runs_in(html: str) -> list[str]:
    [query] = re.findall(r'data-chart-query="([^"]*)"', html)
    return parse_qs(unescape(query)).get("runs", [""])[0].split(",")


def test_charts_are_of_the_runs_asked_for_in_their_colours(charted, project):
    runs = [make_run(project, name) for name in ("one", "two")]
    write_series(runs[0], "train/loss", [1.0])
    write_series(runs[1], "<b>odd</b>/x", [1.0])

    html = charted(*runs, colours="3.1", axis="relative")

    assert charts_in(html) == ["train/loss", "&lt;b&gt;odd&lt;/b&gt;/x"]
    assert runs_in(html) == [str(run.id) for run in runs]
    assert "colours=3.1&amp;axis=relative" in html
    assert 'data-runs="2"' in html
    assert charts_in(charted(runs[0])) == ["train/loss"]
    assert charts_in(charted(*runs, text="ODD")) == ["&lt;b&gt;odd&lt;/b&gt;/x"]


def test_charts_leave_out_what_the_filter_does_unless_it_stays_on_top(charted, project):
    one, two = make_run(project, "one"), make_run(project, "two")
    for run in (one, two):
        write_series(run, f"{run.name}/loss", [1.0])

    assert runs_in(charted(one, two, query='name = "two"')) == [str(two.id)]
    assert charts_in(charted(one, two, q="one")) == ["one/loss"]
    assert len(runs_in(charted(one, two, q="one", top=str(two.id)))) == 2


def test_charts_say_why_there_are_none(charted, project):
    run = make_run(project, "quiet")

    assert "All runs are hidden" in charted()
    assert "No series yet" in charted(run)
    write_series(run, "train/loss", [1.0])
    assert "No series path contains “xyz”" in charted(run, text="xyz")


def test_charts_are_of_runs_of_this_workspace_that_may_be_read(
    charted, project, member, stranger
):
    mine = make_run(project, "mine")
    elsewhere = make_run(make_project(member, "elsewhere"), "elsewhere")
    hidden = make_run(make_project(stranger, "secret"), "hidden")
    for run in (mine, elsewhere, hidden):
        write_series(run, f"{run.name}/loss", [1.0])

    found = charts_in(charted(mine, elsewhere, hidden))

    assert found == ["elsewhere/loss", "mine/loss"]


def test_charts_of_a_project_are_for_its_members(client_of, stranger, address):
    answer = client_of(stranger).get(f"{address}runs/charts")

    assert answer.status_code == HTTPStatus.NOT_FOUND


def test_charts_of_a_query_that_is_not_understood_are_refused(signed_in, address):
    answer = signed_in.get(f"{address}runs/charts", {"query": "("})

    assert answer.status_code == HTTPStatus.BAD_REQUEST


def test_the_address_says_that_the_page_shows_charts_and_how(
    signed_in, address, project
):
    make_run(project, "one")

    html = signed_in.get(address, {"as": "charts", "axis": "time"}).content.decode()

    assert 'value="charts" aria-pressed="true"' in html
    assert 'value="time" aria-pressed="true"' in html
    assert 'class="runs"' in signed_in.get(address, {"as": "x"}).content.decode()


def test_the_runs_of_one_member_can_be_shown(client_of, member):
    project = make_project(member)
    make_run(project, "of ada")
    max_ = make_member("max", Role.MEMBER, workspace=member.workspace)
    run = make_run(project, "of max")
    Run.objects.filter(id=run.id).update(made_by=max_.user)
    client = client_of(max_)
    address = f"/w/{member.workspace.slug}/{project.slug}/"

    mine = client.get(f"{address}runs.json", {"by": "max"}).json()
    page = client.get(address, {"by": "ada"}).content.decode()

    assert mine["matching"] == 1
    assert '<input type="hidden" name="by" value="ada">' in page
    assert '"made_by": ["max", "ada"]' in page


def test_a_search_between_slashes_is_a_regular_expression_on_names(
    signed_in, address, project
):
    for name in ("lr-1", "lr-2", "batch-1"):
        make_run(project, name)

    found = rows(signed_in, address, q=r"/^lr-\d$/", sort="name")
    bad = signed_in.get(f"{address}runs.json", {"q": "/(/", "query": "x"}).json()

    assert [row["name"] for row in found] == ["lr-1", "lr-2"]
    assert bad["mistake"]["field"] == "query"
    alone = signed_in.get(f"{address}runs.json", {"q": "/(/"}).json()
    assert alone["mistake"]["field"] == "q"
    assert "missing )" in alone["mistake"]["message"]
    assert (alone["matching"], alone["total"]) == (0, 3)
