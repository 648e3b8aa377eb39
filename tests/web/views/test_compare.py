"""The comparison page and what its scripts ask for."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from django.urls import reverse

from tests.builders import make_project, make_run, write_series, write_values
from tests.ladder_runs import DEMO, make_measured_run
from tracker.models import Role, Run
from tracker.series.compaction import compact_run

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def project(member):
    return make_project(member)


@pytest.fixture
def runs(project):
    return [make_run(project, name, "finished") for name in ("first", "second")]


@pytest.fixture
def visitor(client_of, member):
    return client_of(member)


@pytest.fixture
def get(visitor, project):
    """Return a function that opens one of the comparison's addresses."""

    def get(*runs, name="compare", **query):
        ids = ",".join(str(getattr(run, "id", run)) for run in runs)
        address = reverse(name, args=[project.workspace.slug, project.slug])
        return visitor.get(address, {"runs": ids, **query})

    return get


def text(response) -> str:
    return response.content.decode()


def test_says_how_to_begin_when_nothing_is_chosen(get):
    page = text(get())

    assert "Nothing to compare yet" in page
    assert "runs table" in page


def test_one_run_asks_for_a_second(get, runs):
    assert "Add a second run" in text(get(runs[0]))


def test_each_run_has_its_colour_and_a_way_to_remove_it(get, runs):
    page = text(get(*runs))

    assert re.findall(r"run-colour--(\d)", page) == ["0", "1"]
    assert f'href="/w/ada-workspace/vision/compare?runs={runs[1].id}"' in page


@pytest.mark.parametrize(
    "hidden",
    ["00000000-0000-4000-8000-000000000000", "nonsense", "a\0b", "<script>alert(1)"],
)
def test_unknown_runs_are_named_without_breaking_the_page(get, runs, hidden):
    response = get(*runs, hidden)

    assert response.status_code == 200
    assert "There is no such run, or you may not see it" in text(response)
    assert "<script>alert" not in text(response)


def test_forbidden_and_absent_runs_look_the_same(get, runs, stranger):
    hidden = make_run(make_project(stranger, "secret"), "hidden")
    absent = uuid4()

    of_hidden, of_absent = text(get(*runs, hidden)), text(get(*runs, absent))

    mask = r'name="csrfmiddlewaretoken" value="[^"]*"|"X-CSRFToken": "[^"]*"'
    assert re.sub(mask, "", of_hidden).replace(str(hidden.id), "?") == re.sub(
        mask, "", of_absent
    ).replace(str(absent), "?")


def test_a_run_of_another_own_project_is_not_found(get, runs, member):
    elsewhere = make_run(make_project(member, "other"), "elsewhere")

    page = text(get(*runs, elsewhere))

    assert "There is no such run" in page
    assert "elsewhere" not in page


def test_says_how_many_runs_are_too_many(get):
    assert "3 more in this address are left out" in text(
        get(*(uuid4() for _ in range(23)))
    )


def test_a_chart_for_each_series_that_any_run_has(get, runs):
    write_series(runs[0], "train/loss", [2.0, 1.0])
    write_series(runs[1], "monitoring/train/job/cpu_cores", [1.0])

    page = text(get(*runs))

    assert "2 charts" in page
    assert page.index("train/loss") < page.index("monitoring/train/job/cpu_cores")
    assert page.count('data-behaviour="chart"') == 2


def test_charts_can_be_narrowed_by_their_path(get, runs):
    write_series(runs[0], "train/loss", [1.0])
    write_series(runs[0], "train/accuracy", [1.0])

    assert text(get(*runs, text="LOSS")).count('data-behaviour="chart"') == 1
    assert "No series has “xyz” in its path" in text(get(*runs, text="xyz"))


def test_a_figure_has_a_line_for_each_run_that_has_the_series(get, runs):
    write_series(runs[1], "train/loss", [2.0, 1.0])

    figure = get(*runs, name="compare-figure", path="train/loss").json()

    (trace,) = figure["data"]
    assert (trace["name"], trace["line"]["color"]) == ("second", "var(--run-1)")
    assert figure["live"] is False


@pytest.mark.parametrize("axis", ["step", "relative", "time"])
def test_a_figure_has_the_axis_asked_for(get, runs, axis):
    write_series(runs[0], "train/loss", [2.0, 1.0])

    figure = get(*runs, name="compare-figure", path="train/loss", axis=axis).json()

    kind = "date" if axis == "time" else "linear"
    assert figure["layout"]["xaxis"]["type"] == kind


@pytest.mark.parametrize("path", ["", "nothing", "a\0b", "x" * 2_000, "__proto__"])
def test_a_figure_of_no_series_is_empty(get, runs, path):
    assert get(*runs, name="compare-figure", path=path).json()["data"] == []


@pytest.mark.parametrize("low", ["x", "nan", "inf"])
def test_a_range_must_be_of_numbers(get, runs, low):
    response = get(*runs, name="compare-figure", path="train/loss", low=low)

    assert response.status_code == 400


def test_the_table_has_values_changes_and_marks(get, runs):
    write_values(runs[0], {"params/lr": 0.1, "params/name": "adam"})
    write_values(runs[1], {"params/lr": 0.2})

    answer = get(*runs, name="compare-table").json()

    assert answer == {
        "rows": [
            [
                "params/lr",
                "params",
                False,
                [["0.1", "", False, "0.1"], ["0.2", "+0.1 (+100 %)", True, "0.2"]],
            ],
            [
                "params/name",
                "params",
                False,
                [["adam", "", False, ""], [None, "", True, ""]],
            ],
        ],
        "paths": 2,
        "next_offset": None,
    }


def test_the_table_compares_with_the_reference_asked_for(get, runs):
    write_values(runs[0], {"params/lr": 0.1})
    write_values(runs[1], {"params/lr": 0.2})

    answer = get(*runs, name="compare-table", reference=str(runs[1].id)).json()

    ((_, _, _, cells),) = answer["rows"]
    assert [cell[1] for cell in cells] == ["\N{MINUS SIGN}0.1 (\N{MINUS SIGN}50 %)", ""]


def test_the_table_shows_everything_when_asked(get, runs):
    for run in runs:
        write_values(run, {"params/lr": 0.1})

    assert get(*runs, name="compare-table").json()["rows"] == []
    assert len(get(*runs, name="compare-table", rows="all").json()["rows"]) == 1


@pytest.mark.parametrize(
    "path", ["__proto__", "constructor/toString", "<script>", "a/../b"]
)
def test_strange_paths_are_values_never_keys(get, runs, path):
    write_values(runs[0], {path: 1})

    ((shown, *_),) = get(*runs, name="compare-table").json()["rows"]
    assert shown == path


def test_the_table_is_answered_page_by_page(get, runs):
    write_values(runs[0], {f"params/{number:04}": number for number in range(251)})

    first = get(*runs, name="compare-table").json()
    last = get(*runs, name="compare-table", offset=first["next_offset"]).json()

    assert (len(first["rows"]), len(last["rows"])) == (250, 1)
    assert last["next_offset"] is None


@pytest.mark.parametrize("offset", ["-1", "x", "1" * 12, "²"])
def test_an_offset_must_be_a_number(get, runs, offset):
    assert get(*runs, name="compare-table", offset=offset).status_code == 400


def test_finds_runs_to_add(get, runs, project):
    make_run(project, "third")

    found = text(get(runs[0], name="compare-search", q="i"))

    assert "third" in found
    assert "second" not in found
    assert f"runs={runs[0].id}%2C" in found


@pytest.mark.parametrize("query", ["a\0", "\ud800", "x" * 2_000])
def test_refuses_to_search_for_what_no_name_can_hold(get, runs, query):
    query = query.encode("utf-8", "surrogatepass")

    assert get(runs[0], name="compare-search", q=query).status_code in (200, 400)


def test_shows_diagnoses_side_by_side(get, project):
    runs = [make_measured_run(project, job) for job in (DEMO[0], DEMO[2])]

    page = text(get(*runs, tab="diagnoses"))

    assert "Too few processes load the data" in page
    assert "no fault seen" in page
    assert "the reference has it" in page


def test_says_which_runs_are_not_diagnosed(get, runs):
    assert "Not diagnosed yet" in text(get(*runs, tab="diagnoses"))


def test_offers_a_ladder_to_those_who_may_edit(get, runs, client_of, project):
    from tests.builders import make_member

    viewer = make_member("vera", Role.VIEWER, workspace=project.workspace)
    address = reverse("compare", args=[project.workspace.slug, project.slug])
    query = {"runs": f"{runs[0].id},{runs[1].id}"}

    assert "Make a ladder" in text(get(*runs))
    assert "Make a ladder" not in text(client_of(viewer).get(address, query))


@pytest.mark.parametrize(
    "name", ["compare", "compare-figure", "compare-table", "compare-search"]
)
def test_for_a_stranger_there_is_no_such_project(name, client_of, stranger, project):
    address = reverse(name, args=[project.workspace.slug, project.slug])

    assert client_of(stranger).get(address).status_code == 404


@pytest.mark.parametrize(
    "name", ["compare", "compare-figure", "compare-table", "compare-search"]
)
def test_only_reads(name, visitor, client, project):
    address = reverse(name, args=[project.workspace.slug, project.slug])

    assert visitor.post(address).status_code == 405
    assert client.get(address).status_code == 302


@pytest.mark.parametrize("tab", ["charts", "table"])
def test_as_many_queries_for_many_attributes_as_for_few(
    tab, get, runs, django_assert_max_num_queries
):
    write_series(runs[0], "train/loss", [1.0])
    with django_assert_max_num_queries(20) as before:
        get(*runs, tab=tab)

    for number in range(60):
        write_series(runs[1], f"train/loss{number}", [1.0])
    compact_run(runs[1].id)
    with django_assert_max_num_queries(len(before)):
        get(*runs, tab=tab)


def test_a_running_run_makes_the_charts_live(get, runs):
    write_series(runs[0], "train/loss", [1.0])
    Run.objects.filter(id=runs[0].id).update(state="running")

    assert 'data-live="true"' in text(get(*runs))
