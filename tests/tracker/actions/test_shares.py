"""Creation, use and end of share links."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.builders import actor_of, browser_of, make_member, make_project, make_run
from tracker.access.objects import readable_ladder
from tracker.access.projects import (
    comparable_project,
    may_edit,
    may_own,
    readable_project,
)
from tracker.access.runs import comparable_runs, readable_run
from tracker.actions.access import authenticate, digest, use_sign_in_link
from tracker.actions.deletions import delete_made, delete_made_for_good, restore_made
from tracker.actions.ladders import (
    RungRequest,
    arrange_ladder,
    create_ladder,
)
from tracker.actions.runs.trash import (
    move_many_to_trash,
    move_silent_to_trash,
    move_to_trash,
    pin,
    restore,
    restore_many,
    set_retention,
)
from tracker.actions.shares import (
    LinkRequest,
    make_link,
    note_opening,
    open_link,
    revoke_link,
)
from tracker.actor import Part
from tracker.errors import InvalidInput, NotFound, Pinned
from tracker.models import Project, Role, Run, ShareLink, State
from tracker.queries.reports.shares import live_count, project_links
from tracker.short_ids import shortened

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def runs(project):
    return [make_run(project, f"run-{number}", State.FINISHED) for number in range(4)]


@pytest.fixture
def ladder(project, runs):
    rungs = [RungRequest(str(run.id)) for run in runs[:2]]
    return create_ladder(project, "faster", rungs)


@pytest.fixture
def share(project, member):
    """Return a function that creates a link and returns its secret."""

    def make(kind, of, **wanted):
        return make_link(project, browser_of(member), LinkRequest(kind, of, **wanted))

    return make


def seen(secret) -> set[str]:
    opened = open_link(secret)
    assert opened is not None
    return {run.name for run in Run.objects.readable_by(opened.actor)}


def test_a_link_opens_its_run_and_nothing_else(share, project, runs, ladder):
    opened = open_link(share("run", str(runs[0].id)))

    assert readable_run(opened.actor, runs[0].id) == runs[0]
    with pytest.raises(NotFound):
        readable_run(opened.actor, runs[1].id)
    with pytest.raises(NotFound):
        readable_ladder(opened.actor, ladder.id)
    with pytest.raises(NotFound):
        readable_project(opened.actor, project.workspace.slug, project.slug)
    assert opened.address() == f"/runs/{runs[0].id}/"


def test_a_link_never_edits(share, project, runs):
    actor = open_link(share("run", str(runs[0].id))).actor

    assert not may_edit(actor, project)
    assert not may_own(actor, project)
    assert not actor.may_ingest
    for projects in ("readable_by", "writable_by", "managed_by"):
        assert not getattr(Project.objects, projects)(actor).exists()


def test_a_comparison_opens_its_runs(share, project, runs):
    query = f"tab=table&runs={runs[2].id},{runs[0].id}&reference={runs[0].id}"
    opened = open_link(share("comparison", query))
    slugs = project.workspace.slug, project.slug

    compared = comparable_runs(
        opened.actor, comparable_project(opened.actor, *slugs), [r.id for r in runs]
    )

    assert compared == [runs[0], runs[2]]
    assert "tab=table" in opened.address()
    asked = f"{shortened(runs[2].id)},{shortened(runs[0].id)}"
    assert asked in opened.address()
    with pytest.raises(NotFound):
        comparable_project(opened.actor, project.workspace.slug, "another")


def test_a_comparison_loses_what_moves_to_the_trash(share, runs):
    secret = share("comparison", f"runs={runs[0].id},{runs[1].id}")

    move_to_trash(runs[0])
    assert seen(secret) == {"run-1"}
    assert shortened(runs[0].id) not in open_link(secret).address()
    move_to_trash(runs[1])
    assert open_link(secret) is None


@pytest.mark.parametrize(
    "of", ["", "runs=", "runs=7", "runs={0}", "runs={0},{0}", "tab=table", "a=1&" * 99]
)
def test_a_comparison_is_of_two_runs_at_least(share, runs, of):
    with pytest.raises((InvalidInput, NotFound)):
        share("comparison", of.format(runs[0].id))


def test_a_ladder_opens_the_runs_that_are_on_it_now(share, runs, ladder):
    secret = share("ladder", str(ladder.id))
    assert readable_ladder(open_link(secret).actor, ladder.id) == ladder
    assert seen(secret) == {"run-0", "run-1"}

    arrange_ladder(ladder, "faster", [RungRequest(str(run.id)) for run in runs[1:3]])

    assert seen(secret) == {"run-1", "run-2"}


def test_a_ladder_s_link_opens_nothing_while_it_is_deleted(share, ladder, member):
    secret = share("ladder", str(ladder.id))

    delete_made(ladder, user_id=member.user_id)
    assert open_link(secret) is None
    restore_made(ladder)
    assert seen(secret) == {"run-0", "run-1"}

    delete_made(ladder, user_id=member.user_id)
    delete_made_for_good(ladder)
    assert open_link(secret) is None
    assert ShareLink.objects.get().ended_at is not None


def test_the_trash_ends_a_run_s_links_for_good(share, runs):
    secret, other = (share("run", str(run.id)) for run in runs[:2])

    move_to_trash(runs[0])
    assert open_link(secret) is None
    restore(runs[0])

    assert open_link(secret) is None
    assert open_link(other) is not None


def test_runs_moved_to_the_trash_together_lose_their_links_as_well(
    share, project, runs
):
    secrets = [share("run", str(run.id)) for run in runs[:3]]
    pin(runs[2])

    restore_many(project, move_many_to_trash(project, [run.id for run in runs[:3]]))

    opened = [open_link(secret) is not None for secret in secrets]
    assert opened == [False, False, True]


def test_retention_ends_links_as_well(share, project, runs):
    secret = share("run", str(runs[0].id))
    set_retention(project, 1)

    move_silent_to_trash(timezone.now() + timedelta(days=2))

    assert open_link(secret) is None
    assert ShareLink.objects.get().ended_at is not None


def test_a_run_that_is_pinned_keeps_its_links(share, runs):
    secret = share("run", str(runs[0].id))
    pin(runs[0])

    with pytest.raises(Pinned):
        move_to_trash(runs[0])

    assert open_link(secret) is not None


def test_a_link_expires(share, runs):
    secret = share(
        "run", str(runs[0].id), expires_at=timezone.now() + timedelta(hours=1)
    )
    assert open_link(secret) is not None

    ShareLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))

    assert open_link(secret) is None


def test_a_link_cannot_be_born_expired(share, runs):
    with pytest.raises(InvalidInput, match="future"):
        share("run", str(runs[0].id), expires_at=timezone.now() - timedelta(days=1))


def test_any_editor_revokes_and_it_stays_known_who(share, project, member, runs):
    secret = share("run", str(runs[0].id))
    grace = make_member("grace", Role.MEMBER, workspace=project.workspace)
    link = ShareLink.objects.get()

    revoke_link(project, browser_of(grace), link.id)
    revoke_link(project, browser_of(member), link.id)

    link.refresh_from_db()
    assert open_link(secret) is None
    assert (link.made_by, link.ended_by) == (member.user, grace.user)
    (listed,) = project_links(project)
    assert listed.why_ended == "revoked by grace"


def test_a_link_of_another_project_cannot_be_revoked(share, member, stranger, runs):
    share("run", str(runs[0].id))

    with pytest.raises(NotFound):
        revoke_link(
            make_project(stranger), browser_of(stranger), ShareLink.objects.get().id
        )

    assert ShareLink.objects.get().ended_at is None


@pytest.mark.parametrize("kind", ["run", "ladder"])
@pytest.mark.parametrize("of", ["", "x", "\0", "00000000-0000-0000-0000-000000000007"])
def test_an_absent_object_cannot_be_shared(share, kind, of):
    with pytest.raises(NotFound):
        share(kind, of)


def test_another_s_run_cannot_be_shared(share, stranger):
    theirs = make_run(make_project(stranger), "theirs")

    with pytest.raises(NotFound):
        share("run", str(theirs.id))
    with pytest.raises((InvalidInput, NotFound)):
        share("comparison", f"runs={theirs.id},{theirs.id}")


def test_an_unknown_kind_cannot_be_shared(share, runs):
    with pytest.raises(NotFound):
        share("project", str(runs[0].id))


@pytest.mark.parametrize("role", [Role.VIEWER, None])
def test_links_of_a_member_who_may_no_longer_share_end(share, member, runs, role):
    secret = share("run", str(runs[0].id))

    if role is None:
        member.delete()
    else:
        member.role = role
        member.save()

    assert open_link(secret) is None


def test_a_locked_account_s_links_open_nothing(share, project, member, runs):
    secret = share("run", str(runs[0].id))
    member.user.is_active = False
    member.user.save()

    assert open_link(secret) is None
    assert live_count(project) == 0
    (listed,) = project_links(project)
    assert "can no longer share" in listed.why_ended


def test_a_deleted_account_s_links_open_nothing_and_stay_listed(
    share, project, member, runs
):
    secret = share("run", str(runs[0].id))

    member.user.delete()

    assert open_link(secret) is None
    assert project_links(project)[0].made_by == ""


def test_membership_elsewhere_is_not_enough(share, member, runs):
    secret = share("run", str(runs[0].id))
    workspace = make_member("bob").workspace
    make_member("ada", workspace=workspace)

    member.delete()

    assert open_link(secret) is None


def test_only_the_digest_of_256_random_bits_is_stored(share, runs):
    secret = share("run", str(runs[0].id), label="for \0 the   review")

    link = ShareLink.objects.get()
    assert link.digest == digest(secret)
    assert link.label == "for the review"
    assert len(secret) >= len("sml_") + 43
    stored = {
        field.name: str(getattr(link, field.attname)) for field in link._meta.fields
    }
    assert not [
        name for name, text in stored.items() if secret[len(link.prefix) :] in text
    ]


def test_the_secret_of_a_link_is_neither_a_token_nor_a_sign_in_link(share, runs):
    secret = share("run", str(runs[0].id))

    assert authenticate(secret) is None
    assert use_sign_in_link(secret) is None


def test_a_token_opens_no_link(member):
    from tracker.actions.access import make_token
    from tracker.actor import Scope

    assert open_link(make_token(member, "full", Scope.MANAGE)) is None


@pytest.mark.parametrize("secret", ["", "sml_", "\0", "\ud800", "ф" * 5_000])
def test_a_made_up_secret_opens_nothing(share, runs, secret):
    share("run", str(runs[0].id))

    assert open_link(secret) is None


def test_openings_are_counted_once_a_minute(share, runs):
    opened = open_link(share("run", str(runs[0].id)))
    now = timezone.now()

    for seconds in (0, 20, 59, 61, 70):
        note_opening(opened, now + timedelta(seconds=seconds))

    assert ShareLink.objects.get().open_count == 2


def test_ticks_are_kept(share, runs):
    opened = open_link(
        share("run", str(runs[0].id), parts=frozenset({Part.LOGS, Part.CONFIG}))
    )

    assert opened.parts == {Part.LOGS, Part.CONFIG}
    assert opened.actor.sees(Part.LOGS)
    assert not opened.actor.sees(Part.FILES)


def test_a_revoked_link_names_its_revoker_or_a_former_member(share, project, runs):
    share("run", str(runs[0].id))
    grace = make_member("grace", Role.MEMBER, workspace=project.workspace)
    revoke_link(project, browser_of(grace), ShareLink.objects.get().id)
    assert project_links(project)[0].why_ended == "revoked by grace"

    grace.user.delete()

    assert "by a former member" in project_links(project)[0].why_ended


def test_links_that_work_are_listed_first(share, project, member, runs):
    for run in runs[:3]:
        share("run", str(run.id), label=run.name)
    newest = ShareLink.objects.get(label="run-2")
    revoke_link(project, browser_of(member), newest.id)

    listed = project_links(project)

    assert [link.label for link in listed] == ["run-1", "run-0", "run-2"]
    assert live_count(project) == 2
    thing = project_links(project, kind="run", target_id=str(runs[0].id))
    assert [link.label for link in thing] == ["run-0"]


def test_a_label_has_an_end(share, runs):
    with pytest.raises(InvalidInput, match="label"):
        share("run", str(runs[0].id), label="x" * 201)


def test_a_token_s_actor_makes_links_in_its_workspace(project, member, runs):
    secret = make_link(project, actor_of(member), LinkRequest("run", str(runs[0].id)))

    assert open_link(secret) is not None
