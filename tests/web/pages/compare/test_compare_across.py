"""Comparisons of runs of several projects: by members, and by a share link."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from tests.builders import (
    browser_of,
    make_project,
    make_run,
    write_series,
    write_values,
)
from tests.ladder_runs import DEMO, make_measured_run
from tests.web.sample_run import make_sample_run
from tracker.actions.shares import LinkRequest, make_link
from tracker.actor import Part
from tracker.models import Member, Project, Role
from web.pages.compare.state import TABS

pytestmark = pytest.mark.django_db


@pytest.fixture
def runs(project, beside):
    """Return two runs of one name in two projects."""
    made = []
    for number, its in enumerate((project, beside)):
        run = make_run(its, "base", "finished")
        write_values(run, {"params/lr": 0.1 * (number + 1), "accuracy": number / 2})
        write_series(run, "train/loss", [1.0, 0.5 + number])
        made.append(run)
    return made


def text(response) -> str:
    return response.content.decode()


def offered(response) -> list[str]:
    """Return the runs offered to add, with their descriptions."""
    found = re.findall(r"<li><a [^>]*>(.*?)</a>", text(response), re.DOTALL)
    return [" ".join(re.sub(r"<[^>]+>", " ", each).split()) for each in found]


@pytest.mark.parametrize("tab", TABS)
def test_every_tab_names_the_project_of_each_run(compared, runs, tab):
    page = text(compared(*runs, tab=tab))

    assert "This run does not exist" not in page
    assert 'title="vision / base"' in page
    assert 'title="speech / base"' in page


def test_runs_of_one_project_go_without_its_name(compared, project, runs):
    second = make_run(project, "second", "finished")

    assert "vision / base" not in text(compared(runs[0], second))


def test_lines_are_named_by_project_and_run(compared, runs):
    figure = compared(*runs, name="compare-figure", path="train/loss").json()

    assert [line["name"] for line in figure["data"]] == [
        "vision / base",
        "speech / base",
    ]


def test_points_of_a_scatter_are_named_so_too(compared, runs):
    asked = {"x": "params/lr", "y": "accuracy"}
    figure = compared(*runs, name="compare-scatter", **asked).json()

    assert "speech / base" in str(figure)


def test_lines_are_coloured_by_their_project(compared, project, runs):
    second = make_run(project, "second", "finished")
    write_series(second, "train/loss", [1.0, 2.0])

    asked = {"path": "train/loss", "together": "(project)"}
    figure = compared(*runs, second, name="compare-figure", **asked).json()

    assert [line["name"] for line in figure["data"] if line.get("name")] == [
        "vision (2 runs)",
        "speech",
    ]


def test_the_table_holds_values_of_both(compared, runs):
    answer = compared(*runs, name="compare-table").json()

    assert answer["rows"][0][0] == "accuracy"
    assert [cell[0] for cell in answer["rows"][0][3]] == ["0", "0.5"]


def test_the_heads_of_the_table_name_the_project(compared, runs):
    page = text(compared(*runs, tab="table"))

    assert '"name": "base", "project": "speech"' in page


def test_every_project_of_the_workspace_is_offered(compared, beside, runs):
    page = text(compared(runs[0]))

    assert '<option value="speech">speech</option>' in page


def test_alone_in_its_workspace_a_project_offers_no_others(client_of, stranger, member):
    alone = make_project(stranger, "alone")
    page = text(
        client_of(stranger).get(
            reverse("compare", args=[alone.workspace.slug, alone.slug])
        )
    )

    assert 'id="compare-in"' not in page


def test_runs_are_found_by_the_words_of_their_name_and_their_projects(compared, runs):
    assert offered(compared(runs[0], name="compare-search", q="spee BAS")) == [
        "base speech finished"
    ]
    assert offered(compared(runs[0], name="compare-search", q="spee other")) == []
    assert offered(compared(runs[0], name="compare-search", q="%")) == []


def test_one_project_is_looked_in_if_it_is_chosen(compared, project, beside, runs):
    make_run(project, "base two")

    found = offered(compared(name="compare-search", q="base", **{"in": "speech"}))
    own = offered(compared(name="compare-search", q="base", **{"in": "vision"}))

    assert found == ["base speech finished"]
    assert own[:2] == ["base two running", "base finished"]


def test_all_that_are_found_are_added_at_once(compared, visitor, project, beside):
    made = {make_run(beside, f"trial {number}", "finished") for number in range(3)}
    page = text(compared(name="compare-search", q="speech trial"))

    [address] = re.findall(r'__all"><a data-keeps-zoom href="([^"]+)"', page)
    added = text(visitor.get(address.replace("&amp;", "&")))

    assert "Add all 3" in page
    assert all(f"speech / {run.name}" in added for run in made)


def test_a_project_of_another_workspace_is_none(compared, stranger, runs):
    theirs = make_run(make_project(stranger, "secret"), "hidden")

    page = text(compared(*runs, theirs))
    search = text(compared(name="compare-search", q="hidden"))
    chosen = compared(name="compare-search", q="", **{"in": "secret"})

    assert "This run does not exist, or you cannot access it" in page
    assert "secret" not in page
    assert "hidden<" not in search
    assert chosen.status_code == 404


def test_of_two_workspaces_of_one_person_runs_stay_apart(
    compared, member, stranger, runs
):
    Member.objects.create(
        workspace=stranger.workspace, user=member.user, role=Role.OWNER
    )
    theirs = make_run(make_project(stranger, "secret"), "hidden")

    assert "secret" not in text(compared(*runs, theirs))


def test_who_reads_it_with_fewer_rights_sees_fewer_runs(
    compared, client_of, stranger, runs
):
    address = compared(*runs).request["PATH_INFO"]
    ids = ",".join(str(run.id) for run in runs)

    assert client_of(stranger).get(address, {"runs": ids}).status_code == 404


def test_a_renamed_project_is_shown_by_its_new_name(compared, beside, runs):
    Project.objects.filter(id=beside.id).update(name="Speech, 2026")

    assert "Speech, 2026 / base" in text(compared(*runs))


@pytest.fixture
def others(member):
    made = []
    for number in range(3):
        made.append(make_run(make_project(member, f"more {number}"), "other"))
        write_series(made[-1], "train/loss", [1.0])
        write_values(made[-1], {"params/lr": 0.3})
    return made


@pytest.mark.parametrize("tab", TABS)
def test_as_many_queries_for_runs_of_many_projects_as_of_two(
    compared, runs, others, tab, django_assert_max_num_queries
):
    with django_assert_max_num_queries(30) as before:
        compared(*runs, tab=tab)

    with django_assert_max_num_queries(len(before)):
        compared(*runs, *others, tab=tab)


def test_findings_and_ledgers_of_both_stand_side_by_side(compared, project, beside):
    found = [
        make_measured_run(its, job)
        for its, job in ((project, DEMO[0]), (beside, DEMO[2]))
    ]

    page = text(compared(*found, tab="findings"))

    assert "Not enough data-loader workers" in page
    assert "<strong>fixed</strong>" in page
    assert page.count("Time breakdown") == 1


def test_their_hardware_lies_on_one_axis(compared, project, beside):
    found = [make_sample_run(its, "base") for its in (project, beside)]

    figure = compared(*found, name="compare-hardware").json()

    assert {line["name"] for line in figure["data"]} == {
        "vision / base",
        "speech / base",
    }


@pytest.fixture
def shared(project, member, runs):
    of = f"runs={','.join(str(run.id) for run in runs)}"
    link_request = LinkRequest("comparison", of, frozenset({Part.CONFIG}))
    return f"/s/{make_link(project, browser_of(member), link_request)}/"


def test_a_link_shows_its_runs_and_nothing_else_of_their_projects(
    shared, project, beside, runs
):
    sibling = make_run(beside, "sibling")
    address = Client().get(shared)["Location"]
    page = text(Client().get(address))

    assert "speech / base" in page
    assert "compare-in" not in page
    assert "sibling" not in page
    assert Client().get(f"{shared}runs/{runs[1].id}/").status_code == 200
    assert Client().get(f"{shared}runs/{sibling.id}/").status_code == 404
    more = address.replace("runs=", f"runs={sibling.id},")
    assert "sibling" not in text(Client().get(more))
    elsewhere = address.replace("/vision/", "/speech/")
    assert Client().get(elsewhere).status_code == 404
    among = text(Client().get(f"{address}&tab=parallel&among=1"))
    assert "sibling" not in among


def test_pages_of_its_runs_name_no_sibling_in_their_own_project(shared, beside, runs):
    make_run(beside, "sibling")

    for page in ("", "charts/", "hardware/", "attributes/"):
        response = Client().get(f"{shared}runs/{runs[1].id}/{page}")
        assert "sibling" not in text(response)
        assert "/w/ada-workspace/speech/" not in text(response)


def test_a_run_in_the_trash_leaves_the_link(shared, runs):
    type(runs[1]).objects.filter(id=runs[1].id).update(trashed_at="2026-01-01T00:00Z")

    page = text(Client().get(Client().get(shared)["Location"]))

    assert "speech" not in page


def test_a_link_is_not_made_of_what_is_not_of_the_workspace(
    visitor, project, stranger, runs
):
    theirs = make_run(make_project(stranger, "secret"), "hidden")
    address = reverse("shares", args=[project.workspace.slug, project.slug])

    for other in (theirs.id, uuid4()):
        asked = {"kind": "comparison", "of": f"runs={runs[0].id},{other}"}
        assert visitor.post(address, asked).status_code == 400
