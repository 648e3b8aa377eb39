from __future__ import annotations

import json
from http import HTTPStatus
from urllib.parse import parse_qs, urlencode

import pytest

from tests.builders import browser_of, make_member, make_project, make_run
from tracker.actions.saved_views import keep_view, make_default
from tracker.models import SavedView

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(member):
    found = make_project(member)
    for name in "ab":
        make_run(found, name)
    return found


@pytest.fixture
def address(project):
    return f"/w/{project.workspace.slug}/{project.slug}/"


@pytest.fixture
def bob(member):
    return make_member("bob", "viewer", workspace=member.workspace)


def kept(
    project, member, state="sort=name", *, name="mine", is_shared=False
) -> SavedView:
    return keep_view(project, browser_of(member), name, state, is_shared=is_shared)


def shown(client, address, **query) -> list[str]:
    html = client.get(address, query).content.decode()
    block = html.split('id="first-block" type="application/json">')[1]
    return [row["name"] for row in json.loads(block.split("</script>")[0])["rows"]]


def test_a_view_keeps_the_table_and_nothing_else(member, client_of, address):
    state = "?sort=-name&column=state&offset=9&view=x&q=&runs=1&query=name+%3D+a"

    answer = client_of(member).post(f"{address}views", {"name": "mine", "state": state})

    view = SavedView.objects.get()
    assert answer["Location"] == f"{address}?view={view.id}"
    assert view.state == "query=name+%3D+a&sort=-name&column=state"
    assert (view.owner, view.is_shared) == (member.user, False)


def test_a_view_keeps_how_charts_are_drawn_and_not_whose(member, client_of, address):
    state = "as=charts&axis=time&smoothing=0.6&text=loss&eyes=none&on=x&off=y"

    client_of(member).post(f"{address}views", {"name": "mine", "state": state})

    view = SavedView.objects.get()
    assert view.state == "as=charts&text=loss&smoothing=0.6&axis=time"
    html = client_of(member).get(address, {"view": view.id}).content.decode()
    assert "runs--charts" in html
    assert 'value="loss"' in html


def test_a_view_keeps_the_panels_of_its_charts(member, client_of, address):
    layout = '{"panels": [{"id": "c0c0c0c0", "kind": "bar"}]}'
    state = urlencode({"as": "charts", "layout": layout})

    client_of(member).post(f"{address}views", {"name": "mine", "state": state})

    assert parse_qs(SavedView.objects.get().state)["layout"] == [layout]


def test_the_address_names_a_view_and_what_differs(project, member, client_of, address):
    view = kept(project, member, "sort=name&query=name+%3D+a")
    client = client_of(member)

    assert shown(client, address, view=view.id) == ["a"]
    assert shown(client, address, view=view.id, query="") == ["a", "b"]
    assert shown(client, address, view=view.id, query="", sort="-name") == ["b", "a"]


def test_a_bare_address_shows_the_default_and_any_other_does_not(
    project, member, client_of, address
):
    make_default(kept(project, member, "query=name+%3D+a"), is_default=True)
    client = client_of(member)

    assert shown(client, address) == ["a"]
    assert len(shown(client, address, view="")) == 2
    assert shown(client, address, sort="name") == ["a", "b"]


def test_a_view_that_is_gone_or_anothers_own_shows_all_runs(
    project, member, bob, client_of, address
):
    view = kept(project, member, "query=name+%3D+a")
    client = client_of(bob)

    answer = client.get(address, {"view": view.id})

    assert b"was deleted or is private" in answer.content
    assert b"mine" not in answer.content
    assert len(shown(client, address, view=view.id)) == 2


def test_a_viewer_keeps_views_of_their_own_and_shares_none(
    bob, client_of, address, project
):
    client = client_of(bob)

    own = client.post(f"{address}views", {"name": "own", "state": ""})
    shared = client.post(
        f"{address}views", {"name": "ours", "state": "", "shared": "yes"}
    )

    assert (own.status_code, shared.status_code) == (
        HTTPStatus.FOUND,
        HTTPStatus.FORBIDDEN,
    )
    view = SavedView.objects.get()
    assert (
        client.post(f"/views/{view.id}", {"name": "new"}).status_code
        == HTTPStatus.FOUND
    )
    for wanted in ({"shared": "yes"}, {"default": "yes"}):
        answer = client.post(f"/views/{view.id}", wanted)
        assert answer.status_code == HTTPStatus.FORBIDDEN
    view.refresh_from_db()
    assert (view.name, view.is_shared, view.is_default) == ("new", False, False)
    client.post(f"/views/{view.id}/delete")
    assert not SavedView.objects.exists()


def test_a_shared_view_is_changed_by_those_who_may_edit(
    project, member, bob, client_of
):
    view = kept(project, member, is_shared=True)
    editor = client_of(make_member("eve", "member", workspace=member.workspace))

    editor.post(f"/views/{view.id}", {"state": "sort=-name"})

    view.refresh_from_db()
    assert view.state == "sort=-name"
    refused = client_of(bob).post(f"/views/{view.id}", {"state": ""})
    assert refused.status_code == HTTPStatus.FORBIDDEN
    refused = client_of(bob).post(f"/views/{view.id}/delete")
    assert refused.status_code == HTTPStatus.FORBIDDEN


def test_what_is_anothers_own_looks_absent(project, member, stranger, client_of):
    view = kept(project, member)
    editor = make_member("eve", "member", workspace=member.workspace)

    for other in (editor, stranger):
        client = client_of(other)
        for path in (f"/views/{view.id}", f"/views/{view.id}/delete"):
            assert client.post(path, {"name": "x"}).status_code == HTTPStatus.NOT_FOUND
    assert SavedView.objects.get().name == "mine"


@pytest.mark.parametrize(
    "state", ["layout=x", "sort=secret", "query=a+<", "column=x", "q=" + "x" * 9_000]
)
def test_a_table_that_cannot_be_shown_is_not_kept(member, client_of, address, state):
    answer = client_of(member).post(f"{address}views", {"name": "bad", "state": state})

    assert answer.status_code == HTTPStatus.BAD_REQUEST
    assert not SavedView.objects.exists()


def test_a_hostile_name_is_only_text(project, member, client_of, address):
    kept(project, member, name="</script><script>alert(1)</script>")

    assert b"<script>alert" not in client_of(member).get(address).content
