from __future__ import annotations

import pytest
from django.utils import timezone

from tests.builders import make_project, make_run
from tracker.models import Fork, Run
from web.templatetags.format import number

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def family(member):
    project = make_project(member)
    parent, child = make_run(project, "sweep"), make_run(project, "trial")
    Run.objects.filter(id=child.id).update(parent=parent)
    return parent, child


def page(client, run):
    return client.get(f"/runs/{run.id}/").content.decode()


def test_a_child_links_to_its_parent(client, member, family):
    client.force_login(member.user)
    parent, child = family

    assert f'<a class="clip" href="/runs/{parent.id}/">sweep</a>' in page(client, child)
    assert "Child runs" not in page(client, child)


def test_a_parent_lists_its_children(client, member, family):
    client.force_login(member.user)
    parent, child = family

    text = page(client, parent)
    assert "Child runs" in text
    assert f'href="/runs/{child.id}/"' in text


def test_relatives_in_the_trash_are_left_out(client, member, family):
    client.force_login(member.user)
    parent, child = family

    Run.objects.filter(id=child.id).update(trashed_at=timezone.now())
    assert "Child runs" not in page(client, parent)

    Run.objects.update(trashed_at=None)
    Run.objects.filter(id=parent.id).update(trashed_at=timezone.now())
    assert "sweep" not in page(client, child)


def test_a_fork_links_to_the_run_it_continues(client, member, family):
    client.force_login(member.user)
    source, run = family
    Run.objects.update(parent=None)
    Fork.objects.create(run=run, source=source, step=1_200, is_copied=True)

    text = page(client, run)
    link = f'<a class="clip" href="/runs/{source.id}/">sweep</a>'
    assert f"<dt>Forked from</dt><dd>{link} at step {number(1_200)}</dd>" in text

    Run.objects.filter(id=source.id).update(trashed_at=timezone.now())
    assert f"<dd>another run at step {number(1_200)}</dd>" in page(client, run)
