from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from tests.builders import (
    actor_of,
    browser_of,
    make_member,
    make_project,
    make_run,
)
from tracker.access.objects import (
    readable_dashboard,
    readable_ladder,
    readable_report,
    readable_view,
)
from tracker.access.projects import readable_project
from tracker.access.runs import (
    SHAPING_FIELDS,
    readable_run,
    readable_run_of_spool,
    readable_runs,
)
from tracker.actor import NOBODY, Actor, Grant, Scope, actor_of_link
from tracker.errors import NotFound
from tracker.models import (
    Dashboard,
    Ladder,
    Member,
    Project,
    ProjectMember,
    Report,
    Role,
    Run,
    SavedView,
    Workspace,
)

pytestmark = [pytest.mark.database, pytest.mark.django_db]


@pytest.fixture
def runs(member: Member, project: Project, stranger: Member) -> list[Run]:
    """Two runs of the project, one of another project, one foreign, one in the trash."""
    beside = make_project(member, "speech")
    foreign = make_project(stranger)
    found = [make_run(each) for each in (project, beside, foreign)]
    found += [make_run(project, "second"), make_run(project, "thrown")]
    found[4].trashed_at = datetime.now(UTC)
    found[4].save()
    return found


def members_of_every_kind(workspace: Workspace, project: Project) -> list[Member]:
    """Members with and without a project role, one deactivated and one who left."""
    members = [
        make_member(f"{role}-{given}", role=role, workspace=workspace)
        for role in Role
        for given in ("", "viewer")
    ]
    for member in members:
        if member.user.username.endswith("viewer"):
            ProjectMember.objects.create(project=project, member=member, role="viewer")
    members[0].is_active = False
    members[0].save()
    return members


def every_actor(member: Member, stranger: Member, runs: list[Run]) -> list[Actor]:
    guest = make_member("eve", role="viewer", workspace=member.workspace)
    project = runs[0].project
    project.is_open = False
    project.save()
    known = members_of_every_kind(member.workspace, project)
    bound = replace(actor_of(member), project_ids=frozenset({project.id}))
    both = Member.objects.create(user=stranger.user, workspace=member.workspace)
    grant = Grant(1, runs[0].project_id, {"run": frozenset({runs[0].id})}, frozenset())
    return [
        *(actor_of(member, scope) for scope in Scope),
        browser_of(member),
        browser_of(guest),
        # A member of both workspaces, with a token for one.
        actor_of(both),
        actor_of(stranger),
        browser_of(stranger),
        actor_of_link(grant),
        Actor(NOBODY),
        bound,
        *map(browser_of, known),
    ]


def test_runs_are_readable_by_whom_the_project_is(member, stranger, runs):
    places = [
        (run.project.workspace.slug, run.project.slug) for run in (runs[0], runs[2])
    ]
    asked = 0
    for actor in every_actor(member, stranger, runs):
        allowed = set(
            Run.objects.filter(project__in=Project.objects.readable_by(actor))
            .filter(trashed_at=None)
            .values_list("id", "project__workspace__slug")
        )
        named = Project.objects.readable_by(actor)
        for workspace, project in places:
            is_named = named.filter(workspace__slug=workspace, slug=project).exists()
            for run in runs:
                expected = is_named and (run.id, workspace) in allowed
                assert is_found(actor, workspace, project, run) == expected
                asked += expected
    assert asked == 30


def is_found(actor: Actor, workspace: str, project: str, run: Run) -> bool:
    try:
        return readable_runs(actor, workspace, project, [run.id]) == [run]
    except NotFound:
        return False


def test_only_members_who_may_read_get_what_a_project_holds(member, stranger, project):
    run = make_run(project)
    spool = run.spools.get().id
    made = {
        readable_ladder: Ladder.objects.create(project=project, name="one"),
        readable_dashboard: Dashboard.objects.create(project=project, name="one"),
        readable_report: Report.objects.create(project=project, name="one"),
        readable_view: SavedView.objects.create(
            project=project, name="one", is_shared=True
        ),
        readable_run: run,
    }

    def gets_all(actor: Actor) -> set[bool]:
        slugs = project.workspace.slug, project.slug
        return {
            is_got(readable_project, actor, *slugs),
            is_got(readable_run_of_spool, actor, spool),
            *(is_got(readable, actor, each.id) for readable, each in made.items()),
        }

    for allowed in (actor_of(member, Scope.READ), browser_of(member)):
        assert gets_all(allowed) == {True}
    for refused in (
        actor_of(member, Scope.LOG),
        actor_of(stranger),
        browser_of(stranger),
        Actor(NOBODY),
    ):
        assert gets_all(refused) == {False}


def is_got(readable, actor: Actor, *key) -> bool:
    try:
        readable(actor, *key)
    except NotFound:
        return False
    return True


def test_readable_runs_come_in_the_order_asked_with_what_shapes_their_points(
    member, runs
):
    first, second = runs[0], runs[3]
    place = first.project.workspace.slug, first.project.slug

    found = readable_runs(actor_of(member), *place, [second.id, first.id])

    assert [run.id for run in found] == [second.id, first.id]
    for run, stored in zip(found, (second, first), strict=True):
        stored.refresh_from_db()
        shaping = {name: getattr(stored, name) for name in SHAPING_FIELDS}
        assert {name: run.__dict__[name] for name in SHAPING_FIELDS} == shaping
        # Other fields are loaded on access.
        assert run.name == stored.name


def test_a_missing_run_or_project_is_named_in_the_error(member, runs):
    actor = actor_of(member)
    place = runs[0].project.workspace.slug, runs[0].project.slug

    with pytest.raises(NotFound, match="run"):
        readable_runs(actor, *place, [runs[0].id, uuid4()])
    for wrong in ("no-such", "\0", "a b"):
        with pytest.raises(NotFound, match="project"):
            readable_runs(actor, place[0], wrong, [runs[0].id])
        with pytest.raises(NotFound, match="project"):
            readable_runs(actor, wrong, place[1], [runs[0].id])
