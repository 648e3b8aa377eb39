from __future__ import annotations

from http import HTTPStatus
from uuid import uuid4

import pytest

from tests.builders import make_member, make_project, make_run
from tracker.actions.trash import pin
from tracker.models import Attribute, Run

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def send(member, client_of, project):
    def post(what, runs, *, to=None, by=member, **fields):
        found = to or project
        address = f"/w/{found.workspace.slug}/{found.slug}/runs/{what}"
        return client_of(by).post(
            address,
            {"runs": ",".join(str(run.id) for run in runs), **fields},
            headers={"accept": "application/json"},
        )

    return post


def test_runs_are_tagged_and_untagged(send, project):
    runs = [make_run(project, name) for name in "ab"]

    added = send("tag", runs, add="x").json()["changed"]
    send("tag", runs[:1], remove="x")

    assert set(added) == {str(run.id) for run in runs}
    found = Attribute.objects.filter(path="tags").values_list("run__name", "items")
    assert dict(found) == {"a": [], "b": ["x"]}


def test_runs_are_moved_to_the_trash_and_back_but_for_pinned_ones(send, project):
    runs = [make_run(project, name) for name in "abc"]
    pin(runs[2])

    moved = send("trash", runs).json()["changed"]

    assert set(moved) == {str(run.id) for run in runs[:2]}
    assert [run.name for run in Run.objects.not_in_trash()] == ["c"]
    back = send("restore", runs).json()["changed"]
    assert set(back) == set(moved)
    assert Run.objects.not_in_trash().count() == 3


@pytest.mark.parametrize("what", ["tag", "trash", "restore"])
def test_who_may_not_edit_may_not_do_it(send, project, member, stranger, what):
    run = make_run(project)
    viewer = make_member("bob", "viewer", workspace=member.workspace)

    assert send(what, [run], by=viewer, add="x").status_code == HTTPStatus.FORBIDDEN
    assert send(what, [run], by=stranger, add="x").status_code == HTTPStatus.NOT_FOUND
    assert Run.objects.not_in_trash().count() == 1


@pytest.mark.parametrize("what", ["tag", "trash", "restore"])
def test_runs_of_another_project_are_not_touched(send, project, stranger, what):
    other = make_run(make_project(stranger))

    answer = send(what, [other], add="x")

    assert answer.json() == {"changed": []}
    assert Run.objects.not_in_trash().filter(id=other.id).exists()
    assert not Attribute.objects.filter(run=other, path="tags").exists()


def test_what_is_no_id_is_refused(member, client_of, project):
    address = f"/w/{project.workspace.slug}/{project.slug}/runs/trash"

    for text in ("", "x", f"{uuid4()},"):
        answer = client_of(member).post(
            address, {"runs": text}, headers={"accept": "application/json"}
        )
        assert answer.status_code == HTTPStatus.BAD_REQUEST
