"""Descriptions, tags and comments on a run's page."""

import pytest

from tests.builders import make_member, make_project, make_run, write_tags, write_values
from tracker.models import Project, Role
from tracker.queries.run.run import run_overview

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(member):
    return make_run(make_project(member), state="finished")


@pytest.fixture
def owner(client_of, member):
    return client_of(member)


def describe(client, run, **fields):
    return client.post(f"/runs/{run.id}/describe", fields)


def page_of(client, run):
    return client.get(f"/runs/{run.id}/").content.decode()


def test_a_description_and_tags_are_shown_as_text(owner, run):
    write_tags(run, "old")

    answer = describe(
        owner, run, description="<b>why</b>", add="new, <i>odd</i>", remove="old"
    )

    assert answer.headers["Location"] == f"/runs/{run.id}/"
    text = page_of(owner, run)
    assert "&lt;b&gt;why&lt;/b&gt;" in text
    assert run_overview(run).tags == ("<i>odd</i>", "new")
    assert "?tag=%3Ci%3Eodd%3C%2Fi%3E" in text


def test_tags_alone_leave_the_description(owner, run):
    describe(owner, run, description="kept")
    describe(owner, run, add="new")

    assert run_overview(run).description == "kept"


def test_one_returns_to_where_one_was_and_to_no_other_host(owner, run):
    charts = f"/runs/{run.id}/charts"

    assert describe(owner, run, next=charts).headers["Location"] == charts
    away = describe(owner, run, next="https://evil.test/").headers["Location"]
    assert away == "/"


def test_what_is_refused_is_said(owner, run):
    assert describe(owner, run, add="x" * 1_025).status_code == 400


def test_a_metric_is_pinned_for_all_runs_of_the_project(owner, run):
    write_values(run, {"a/metric": 1.0, "val/accuracy": 0.9})
    other = make_run(run.project, "other", state="finished")
    write_values(other, {"a/metric": 2.0, "val/accuracy": 0.8})
    address = f"/runs/{run.id}/key-metrics"

    assert owner.post(address, {"path": "a/metric"}).status_code == 302

    text = page_of(owner, other)
    assert text.index("a/<wbr>metric") < text.index("val/<wbr>accuracy")
    owner.post(address, {"path": "a/metric", "unpin": "1"})
    assert Project.objects.get().key_metrics == []


def test_who_only_reads_changes_nothing(client_of, run):
    workspace = run.project.workspace
    viewer = client_of(make_member("vera", Role.VIEWER, workspace=workspace))

    assert describe(viewer, run, description="no").status_code == 403
    address = f"/runs/{run.id}/key-metrics"
    assert viewer.post(address, {"path": "a"}).status_code == 403
    text = page_of(viewer, run)
    assert "run-describe" not in text
    assert run_overview(run).description == ""


@pytest.mark.parametrize("address", ["describe", "key-metrics"])
def test_a_stranger_finds_nothing_and_looking_changes_nothing(
    client_of, stranger, owner, run, address
):
    path = f"/runs/{run.id}/{address}"

    assert client_of(stranger).post(path, {"path": "a"}).status_code == 404
    assert owner.get(path).status_code == 405


def test_a_run_is_renamed(owner, run):
    answer = describe(owner, run, name=" <b>better</b> ")

    assert answer.status_code == 302
    assert "<h1>&lt;b&gt;better&lt;/b&gt;</h1>" in page_of(owner, run)


def test_a_name_that_is_taken_or_empty_is_refused_and_said(owner, run):
    make_run(run.project, "taken")
    for name, why in (("taken", "already the name"), ("", "must be text")):
        describe(owner, run, name=name)
        assert why in page_of(owner, run)

    run.refresh_from_db()
    assert run.name not in ("taken", "")


def test_a_viewer_renames_nothing(client_of, run):
    viewer = make_member("vera", Role.VIEWER, workspace=run.project.workspace)
    assert describe(client_of(viewer), run, name="mine").status_code == 403
