"""The pages about people, with three people's work in them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.test import Client
from django.utils import timezone

from tests.builders import make_project, make_run, write_series
from tests.web.every_page import discuss, make_finding, make_notification, make_rule
from tracker.actions.access import make_sign_in_link
from tracker.actions.people.accounts import create_account, make_reset_link
from tracker.actions.people.audit_context import AuditContext
from tracker.actions.people.invitations import InvitationRequest, invite
from tracker.actions.people.keys import KeyRequest, create_key, revoke_key
from tracker.actions.people.members import add_member, change_role, deactivate
from tracker.actions.people.project_members import set_project_open, set_project_role
from tracker.actions.people.service_accounts import create_service_account
from tracker.actions.projects import archive_project
from tracker.actions.runs import run_comments
from tracker.actor import Scope
from tracker.models import (
    Invitation,
    Member,
    Project,
    ProjectMember,
    Role,
    Run,
    Token,
    User,
    Workspace,
)

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15"
    " (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1"
)
PASSWORD = "lighthouse keeper 1907"


@dataclass(frozen=True)
class Team:
    owner: Member
    admin: Member
    member: Member
    guest: Member
    project: Project
    run: Run


def make_team() -> Team:
    """An owner, an admin, a member and guests, with runs, comments, keys and alerts."""
    lab = Workspace.objects.create(name="Vision lab", slug="vision-lab")
    owner = _person(lab, "Ada Lovelace", Role.OWNER)
    audit = AuditContext(owner.user_id, "192.0.2.7")
    admin = _person(lab, "Grace Hopper", Role.ADMIN, audit)
    member = _person(lab, "Maximilian Alexander von Humboldt-Dachroeden", audit=audit)
    leaver = _person(lab, "Linus Leaver", audit=audit)
    guest = _person(lab, "Gil", Role.GUEST, audit)
    _person(lab, "Nora", Role.VIEWER, audit)
    for user_agent in (FIREFOX, SAFARI):
        visitor = Client(HTTP_HOST="localhost", headers={"user-agent": user_agent})
        visitor.post("/sign-in", {"login": owner.user.email, "password": PASSWORD})
    deactivate(leaver, audit)
    vision, speech = make_project(owner), make_project(owner, "speech-recognition")
    speech.owner, speech.description = member.user, "Wake words.\n\nSee the report."
    speech.save()
    ProjectMember.objects.create(project=vision, member=guest, role=Role.VIEWER)
    set_project_open(speech, audit, is_open=False)
    set_project_role(speech, member, Role.ADMIN, audit)
    archive_project(make_project(owner, "mnist-2019"), audit)
    add_member(
        Workspace.objects.create(name="Home", slug="home"),
        owner.user,
        Role.OWNER,
        audit,
    )
    change_role(admin, Role.MEMBER, audit)
    change_role(admin, Role.ADMIN, audit)
    _keys(lab, member, vision, audit)
    _invitations(lab, vision, audit)
    run = _runs(vision, owner, member)
    return Team(owner, admin, member, guest, vision, run)


def people_pages(team: Team) -> dict[str, tuple[str, Member | None]]:
    """Return the address of each page and its user, by name; None: a visitor."""
    lab, project, run = team.owner.workspace.slug, team.project.slug, team.run
    place = f"/w/{lab}/{project}"
    account = Member.objects.filter(user__is_service=True).latest("id")
    leaver = Member.objects.get(is_active=False)
    rule = project_rule(team.project)
    link = InvitationRequest(Role.VIEWER, team.project, max_uses=None)
    secret = invite(team.owner.workspace, link, AuditContext(team.owner.user_id))
    used = invite(team.owner.workspace, link, AuditContext(team.owner.user_id))
    Invitation.objects.filter(id=Invitation.objects.latest("id").id).update(
        use_count=1, max_uses=1
    )
    named = InvitationRequest(Role.MEMBER, email="new.colleague@example.com")
    mailed = invite(team.owner.workspace, named, AuditContext(team.owner.user_id))
    of_owner = {
        "projects": "/",
        "workspace": f"/w/{lab}/",
        "members": f"/w/{lab}/members",
        "member": f"/w/{lab}/members/{team.member.id}",
        "member-guest": f"/w/{lab}/members/{team.guest.id}",
        "member-deactivated": f"/w/{lab}/members/{leaver.id}",
        "member-self": f"/w/{lab}/members/{team.owner.id}",
        "profile": "/account/",
        "security": "/account/security",
        "sessions": "/account/sessions",
        "password": "/account/password",
        "keys": "/account/keys",
        "workspace-keys": f"/w/{lab}/keys",
        "service-account": f"/w/{lab}/service-accounts/{account.id}",
        "service-account-new": f"/w/{lab}/service-accounts/new",
        "audit": f"/w/{lab}/audit",
        "workspace-settings": f"/w/{lab}/settings",
        "workspace-new": "/workspaces/new",
        "project-new": f"/w/{lab}/projects/new",
        "project-settings": f"{place}/settings",
        "project-members": f"{place}/members",
        "project-members-closed": f"/w/{lab}/speech-recognition/members",
        "run": f"/runs/{run.id}/",
        "run-move": f"/runs/{run.id}/move",
        "run-comments": f"/runs/{run.id}/comments",
        "inbox": "/inbox",
        "notifications": "/account/notifications",
        "alerts": f"{place}/alerts",
        "metric-rule-new": f"{place}/alerts/rules/new",
        "metric-rule": f"{place}/alerts/rules/{rule}",
        "join-again": f"/join/{secret}",
    }
    of_others = {
        "keys-none": ("/account/keys", team.guest),
        "inbox-none": ("/inbox", team.guest),
        "members-refused": (f"/w/{lab}/members", team.guest),
        "members-read": (f"/w/{lab}/members", team.member),
        "member-owner-refused": (f"/w/{lab}/members/{team.owner.id}", team.admin),
        "join-other": (f"/join/{mailed}", team.guest),
        "join-member": (f"/join/{secret}", team.member),
    }
    for_visitors = {
        "sign-in": "/sign-in",
        "sign-in-spent": "/sign-in?spent",
        "sign-in-link": f"/sign-in/{make_sign_in_link(team.owner.user)}",
        "forgot": "/account/password/forgotten",
        "forgot-sent": "/account/password/forgotten/sent",
        "reset": "/" + make_reset_link(User.objects.get(name="Nora")).split("/", 3)[3],
        "reset-spent": "/account/password/reset/1-x/nothing",
        "deactivated": "/account/deactivated",
        "join": f"/join/{secret}",
        "join-mailed": f"/join/{mailed}",
        "join-used": f"/join/{used}",
        "join-unknown": "/join/smi_nothing",
    }
    return (
        {name: (path, team.owner) for name, path in of_owner.items()}
        | of_others
        | {name: (path, None) for name, path in for_visitors.items()}
    )


def project_rule(project: Project) -> int:
    return project.metric_rules.latest("id").id


def _person(
    workspace: Workspace,
    name: str,
    role: Role = Role.MEMBER,
    audit: AuditContext | None = None,
) -> Member:
    email = f"{name.lower().replace(' ', '.')}@example.com"
    user = create_account(email, name, PASSWORD, email_is_verified=True)
    return add_member(workspace, user, role, audit or AuditContext(user.id))


def _keys(
    lab: Workspace, member: Member, project: Project, audit: AuditContext
) -> None:
    soon = timezone.now() + timedelta(days=3)
    owner = Member.objects.get(workspace=lab, user=audit.user_id)
    create_key(owner, KeyRequest("laptop", Scope.MANAGE), audit)
    create_key(owner, KeyRequest("GPU node 3", Scope.LOG, soon, (project.slug,)), audit)
    create_key(owner, KeyRequest("dashboard in the hallway", Scope.READ), audit)
    create_key(member, KeyRequest("cluster", Scope.LOG), AuditContext(member.user_id))
    Token.objects.filter(name="laptop").update(last_used_at=timezone.now())
    Token.objects.filter(name="GPU node 3").update(expires_at=timezone.now())
    revoke_key(Token.objects.get(name="dashboard in the hallway"), audit)
    create_service_account(lab, "GitHub Actions", Role.MEMBER, audit)
    scheduler = create_service_account(
        lab, "Slurm on the big cluster", Role.MEMBER, audit, projects=[project]
    )
    create_key(scheduler, KeyRequest("slurm", Scope.LOG, None, (project.slug,)), audit)


def _invitations(lab: Workspace, project: Project, audit: AuditContext) -> None:
    invite(lab, InvitationRequest(Role.MEMBER, email="new.person@example.com"), audit)
    invite(lab, InvitationRequest(Role.VIEWER, project, max_uses=None), audit)
    invite(lab, InvitationRequest(Role.ADMIN, email="old.person@example.com"), audit)
    earlier = timezone.now() - timedelta(days=9)
    Invitation.objects.filter(email="old.person@example.com").update(
        created_at=earlier, expires_at=earlier + timedelta(days=7)
    )


def _runs(project: Project, owner: Member, member: Member) -> Run:
    run = make_run(project, "resnet50-baseline", "finished")
    write_series(run, "train/loss", [3.0, 2.0, 1.0])
    Run.objects.filter(id=run.id).update(made_by=member.user)
    run.refresh_from_db()
    make_run(project, "resnet50-longer-warmup")
    make_finding(run)
    make_rule(project, owner)
    discuss(run, member, f"@{owner.user.username} please look at step 12.")
    thread = run.comments.order_by("id").first()
    assert thread is not None
    run_comments.add_reply(thread, "Looks like **warm-up**.", user_id=owner.user_id)
    make_notification(run, owner)
    return run
