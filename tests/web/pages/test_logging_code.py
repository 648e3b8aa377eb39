"""Code that logs is shown to members who may log, in place of missing data."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.builders import make_member, make_run
from tests.web.every_page import share
from tracker.models import Project, ProjectMember, Stage

pytestmark = [pytest.mark.django_db, pytest.mark.database]

# The id of the code on each page of runs without data.
RUN_PAGES = {
    "": "join-run",
    "charts": "first-series",
    "media": "first-pictures",
    "attributes": "first-attribute",
    "logs": "first-text",
    "files": "first-file",
    "files?view=gallery": "first-file",
}
COMPARED_PAGES = {
    "tab=charts": "first-series",
    "tab=media": "first-media",
    "tab=source": "capture",
}


@pytest.fixture
def runs(project):
    runs = [make_run(project, name, "finished") for name in ("one", "two")]
    Stage.objects.filter(run__in=runs).delete()
    return runs


@pytest.fixture
def colleague(member, client_of):
    return client_of(make_member("vic", "viewer", workspace=member.workspace))


@pytest.fixture
def address(project, runs):
    """Return the address of a page of the first run, or of a comparison."""

    def of(page: str) -> str:
        if page in RUN_PAGES:
            return f"/runs/{runs[0].id}/{page}"
        return f"/w/{project.workspace.slug}/{project.slug}/compare?{page}"

    return of


@pytest.fixture
def pages(runs):
    both = ",".join(str(run.id) for run in runs)
    compared = {f"runs={both}&{page}": code for page, code in COMPARED_PAGES.items()}
    return {**RUN_PAGES, **compared, f"runs={runs[0].id}": "two-runs"}


def shows(client: Client, address: str, code: str) -> bool:
    response = client.get(address)
    assert response.status_code == 200, address
    return f'<code id="{code}">' in response.content.decode()


def test_members_see_it(pages, address, visitor):
    missing = {
        page for page, code in pages.items() if not shows(visitor, address(page), code)
    }

    assert missing == set()


def test_viewers_do_not(pages, address, colleague):
    shown = {
        page for page, code in pages.items() if shows(colleague, address(page), code)
    }

    assert shown == set()


def test_nor_does_anybody_in_an_archived_project(pages, address, visitor, project):
    Project.objects.filter(id=project.id).update(archived_at=project.created_at)

    shown = {
        page for page, code in pages.items() if shows(visitor, address(page), code)
    }

    assert shown == set()


def test_the_overview_of_a_viewer_has_no_code_either(project, visitor, colleague):
    run = make_run(project, "with a stage", "finished")

    member, viewer = (
        client.get(f"/runs/{run.id}/").content.decode()
        for client in (visitor, colleague)
    )

    for text, code in {
        "No metrics yet.": "append(loss)",
        "No parameters yet.": "batch_size",
    }.items():
        assert text in member
        assert code in member
        assert text in viewer
        assert code not in viewer


def test_a_project_without_runs_shows_it_to_its_members(
    project, member, visitor, colleague, client_of
):
    guest = make_member("gil", "guest", workspace=member.workspace)
    ProjectMember.objects.create(project=project, member=guest, role="member")
    address = f"/w/{project.workspace.slug}/{project.slug}/"

    def shown():
        clients = (visitor, client_of(guest), colleague)
        return [shows(client, address, "first-run") for client in clients]

    assert shown() == [True, True, False]
    Project.objects.filter(id=project.id).update(archived_at=project.created_at)
    assert shown() == [False, False, False]


def test_visitors_by_link_do_not(runs, project, member):
    ids = ",".join(str(run.id) for run in runs)
    links = {
        share(project, member, "run", str(runs[0].id)): RUN_PAGES,
        share(project, member, "comparison", f"runs={ids}"): {
            f"&{page}": code for page, code in COMPARED_PAGES.items()
        },
    }

    shown = {
        page
        for secret, pages in links.items()
        for page, code in pages.items()
        if shows(Client(), Client().get(f"/s/{secret}/")["Location"] + page, code)
    }

    assert shown == set()


@pytest.mark.parametrize("page", ["attributes?open=", "files?whole=1", "media", "logs"])
def test_nor_does_a_part_that_refreshes_itself(page, runs, visitor, colleague):
    address = f"/runs/{runs[0].id}/{page}"
    headers = {"HX-Request": "true"}

    parts = [
        client.get(address, headers=headers).content.decode()
        for client in (visitor, colleague)
    ]

    assert ['<code id="first-' in part for part in parts] == [True, False]
