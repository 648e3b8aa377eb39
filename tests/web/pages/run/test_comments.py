from __future__ import annotations

import pytest
from django.urls import reverse

from tests.builders import make_member, make_run
from tests.web.every_page import make_finding
from tracker.actions.runs.run_comments import add_comment
from tracker.models import Role, RunComment

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def run(project):
    return make_run(project)


@pytest.fixture
def client(client_of, member):
    return client_of(member)


@pytest.fixture
def vera(client_of, member):
    workspace = member.workspace
    return client_of(make_member("vera", Role.VIEWER, workspace=workspace))


def tab(run) -> str:
    return reverse("run-comments", args=[run.id])


def change(client, comment, what: str, **fields):
    address = reverse(f"run-comment-{what}", args=[comment.run_id, comment.id])
    return client.post(address, fields)


def test_a_comment_is_shown_as_text_with_its_author(client, run):
    answer = client.post(tab(run), {"text": "**Why** <script>?"})

    comment = RunComment.objects.get()
    assert answer["Location"] == f"{tab(run)}#comment-{comment.id}"
    page = client.get(tab(run)).content.decode()
    assert "<strong>Why</strong> &lt;script&gt;?" in page
    assert "<bdi>ada</bdi>" in page


def test_htmx_gets_the_list_alone(client, run):
    headers = {"HX-Request": "true"}
    answer = client.post(tab(run), {"text": "Why?"}, headers=headers)

    assert answer.content.decode().strip().startswith('<div id="remarks-run"')


def test_a_finding_is_commented_on(client, run):
    finding = make_finding(run)

    client.post(tab(run), {"text": "So?", "finding": finding.id})

    assert RunComment.objects.get().finding == finding
    assert finding.title in client.get(tab(run)).content.decode()


def test_a_viewer_comments_answers_and_changes_only_their_own(
    client, vera, run, member
):
    comment = add_comment(run, "Why?", user_id=member.user_id)

    assert change(vera, comment, "answer", text="Because.").status_code == 302
    for what in ("edit", "delete", "resolve"):
        assert change(vera, comment, what, text="x").status_code == 403

    own = RunComment.objects.get(thread=comment)
    assert change(vera, own, "edit", text="Since.").status_code == 302
    assert change(client, own, "edit", text="x").status_code == 403
    assert change(client, own, "delete").status_code == 302
    assert change(vera, own, "restore").status_code == 403


def test_a_thread_is_resolved_and_reopened(client, run, member):
    comment = add_comment(run, "Why?", user_id=member.user_id)

    change(client, comment, "resolve")
    assert "Resolved by" in client.get(tab(run)).content.decode()

    change(client, comment, "reopen")
    assert "Resolved by" not in client.get(tab(run)).content.decode()


def test_strangers_see_and_write_nothing(client_of, stranger, run, member):
    comment = add_comment(run, "Why?", user_id=member.user_id)
    client = client_of(stranger)

    assert client.get(tab(run)).status_code == 404
    assert client.post(tab(run), {"text": "x"}).status_code == 404
    assert change(client, comment, "answer", text="x").status_code == 404


def test_names_are_completed_with_readers_only(client, vera, run, stranger):
    project = run.project
    address = reverse("project-readers", args=[project.workspace.slug, project.slug])

    def offered(text: str) -> list[str]:
        rows = client.get(address, {"q": text}).json()["readers"]
        return [row["username"] for row in rows]

    assert offered("") == ["ada", "vera"]
    assert offered("V") == ["vera"]
    assert offered("mal") == []
