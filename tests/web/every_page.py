"""All pages, found by their routes: with a full project and with an empty one.

A route parameter with a new name raises an error here until `Things` has a value for
it, so that the tests over all pages miss none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from uuid import UUID

from django.test import Client
from django.urls import get_resolver, reverse
from django.utils import timezone

from seamark.recording.media.png import to_png
from tests.builders import (
    browser_of,
    make_project,
    make_run,
    records_message,
    write,
    write_series,
    write_tags,
)
from tests.ladder_runs import DEMO, make_measured_run
from tests.tracker.api.v1.test_files import file_message
from tests.tracker.queries.run.test_code_profile import profile, write_profile
from tests.web.pages.run_files.test_source import write_captured
from tests.web.sample_run import make_sample_run
from tracker.actions.access import make_sign_in_link, make_token
from tracker.actions.channels import add_channel
from tracker.actions.dashboards import create_dashboard
from tracker.actions.deletions import delete_made
from tracker.actions.files import receive
from tracker.actions.ladders import RungRequest, create_ladder
from tracker.actions.metric_rules import RuleRequest, create_rule
from tracker.actions.people.audit_context import AuditContext
from tracker.actions.people.invitations import InvitationRequest, invite
from tracker.actions.people.notifications import News, notify
from tracker.actions.people.service_accounts import create_service_account
from tracker.actions.report_comments import (
    Passage,
    add_comment,
    add_reply,
    resolve_thread,
)
from tracker.actions.reports import create_report, save_version
from tracker.actions.runs import run_comments
from tracker.actions.runs.trash import move_to_trash
from tracker.actions.saved_views import NAME_LENGTH, keep_view
from tracker.actions.shares import LinkRequest, make_link
from tracker.actor import Part, Scope
from tracker.boards.board import Board, Widget
from tracker.models import (
    Alert,
    Annotation,
    Dashboard,
    Finding,
    Invitation,
    Member,
    MetricRule,
    Notification,
    NotificationKind,
    Project,
    ProjectMember,
    Role,
    Run,
    RunComment,
    ShareLink,
    Stage,
    State,
    Token,
    User,
)
from tracker.shares.comparison import FEWEST
from web.markdown import parts_of
from web.pages.compare.state import SHARED_TABS, TABS, TABS_OF_VALUES
from web.pages.reports.passages import passages_of
from web.pages.sdk.source_archive import archive_name

RULE = "data-wait-dominates"
UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"
CHART = Widget(id="c0c0c0c0", kind="chart", settings={"metrics": ["train/loss"]})
WRITTEN_CHART = "```seamark\nwidget: chart\nmetrics: train/loss\n```\n"
ATTRIBUTE, FILE = "params/optimizer", "notes"
SOUND = b"RIFF\x28\0\0\0WAVEfmt " + bytes(28)
# One point at the origin: docs/formats/point-cloud.md.
POINTS = b"SMPC\1\0\0\0\1\0\0\0\1" + bytes(7 + 12)
TABLE = b'{"columns":["label"],"rows":[["cat"]],"count":1}'
PICTURE = to_png(bytes(12), width=2, height=2, channels=3)
# Query strings for further variants of a route, filled in from `kept`.
VARIANTS: Mapping[str, tuple[str, ...]] = {
    "compare": (
        "",
        "?runs={runs}",
        *(f"?runs={{runs}}&tab={tab}" for tab in TABS if tab != "charts"),
    ),
    "runs": ("", "?as=charts", "?group=path:params/optimizer", "?view={view}"),
    "run-attributes": ("", "?path={attribute}"),
    "run-files": ("", "?view=gallery", "?path={file}"),
    "share": ("?kind=run&of={shared_run}",),
    "dashboards": ("", "?new"),
    "ladders": ("", "?new", "?runs={runs}"),
    "reports": ("", "?new"),
    "report": ("", "?comments=paper", "?version=1"),
    "gpu-hours": ("?days=all", "?days=7"),
    "rule-settings": (f"?open={RULE}",),
    "shared-page": (
        "",
        *("charts", "media", "logs", "hardware", "profile", "attributes", "source"),
        "files",
    ),
}
# Path or query suffixes of share links that have all parts, by kind, except links to
# runs.
SHARED: Mapping[str, tuple[str, ...]] = {
    "comparison": tuple(f"&tab={tab}" for tab in (*SHARED_TABS, *TABS_OF_VALUES)),
    "ladder": ("", "report"),
    "dashboard": ("",),
    "report": ("",),
}
# Routes that answer with an error or a redirect; the others answer 200 or require POST.
REFUSING = {
    # Its link has expired.
    "confirm-email",
    # A redirect.
    "run-address",
    "notification",
    "keys-old-address",
    "sign-in",
    "account_login",
    "mfa_authenticate",
    # There is no provider.
    "openid_connect_login",
    "openid_connect_callback",
    "mfa_login_webauthn",
    # These require a recent password or an existing second factor.
    "account_set_password",
    "mfa_activate_totp",
    "mfa_add_webauthn",
    "mfa_generate_recovery_codes",
    "mfa_reauthenticate",
    "mfa_reauthenticate_webauthn",
    "mfa_deactivate_totp",
    "mfa_remove_webauthn",
    "mfa_view_recovery_codes",
    "shared",
    "help-page",
    "runs-groups",
    "runs-changed",
    "run-media-panel",
    "run-media-file",
    "run-media-html",
    "run-media-table",
    "run-media-table-csv",
    "run-media-points",
    "run-file-preview",
    "run-file-picture",
    "run-file-figure",
    "run-file-html",
    "run-series",
    "run-charts-figures",
    "compare-figures",
    "compare-media",
    "panel-body",
    "panel-dashboard",
    "panel-figure",
    "run-histograms",
    "run-evidence",
    "report-picture",
    "report-widget-body",
    "report-widget-figure",
    "report-widget-medium",
    "widget-medium",
    "widget-picture",
}
# Error pages that answer 200 or their status.
NOTHING = {
    "404": "/nowhere",
    "405": "/sign-out",
    "run-awaited": f"/r/{UUID(int=7)}",
}
# Pages that do not depend on a project; visited once.
ALIKE = (
    "keys",
    "notifications",
    "account",
    "account_inactive",
    "account_reset_password",
    "account_reset_password_done",
    "account_reset_password_from_key",
    "account_change_password",
    "account_reauthenticate",
    "mfa_index",
    "security",
    "sessions",
    "rule",
    "help",
    "sdk",
    "sign-in",
    "sign-in-link",
    "join",
    "api",
    "members",
    "member",
    *NOTHING,
)


@dataclass(frozen=True)
class Things:
    """Values for the parameters of routes."""

    member: Member
    project: Project
    run: Run
    compared: tuple[Run, ...] = ()
    # The name of created items that a user would choose.
    name: str = "overview"

    def known(self) -> dict[str, object]:
        """Return a value for each parameter of a route, by its name."""
        rungs = [
            RungRequest(str(run.id), self.name) for run in self.compared or (self.run,)
        ]
        channel = add_channel(
            self.project, "webhook", "https://chat.example.com/hook", "warning"
        )
        make_token(self.member, self.name, Scope.MANAGE)
        return {
            "workspace": self.member.workspace.slug,
            "project": self.project.slug,
            "run_id": self.run.id,
            "ladder_id": create_ladder(self.run.project, self.name, rungs).id,
            "finding_id": make_finding(self.run).id,
            "annotation_id": Annotation.objects.create(
                run=self.run,
                path="loss",
                step=0,
                time=timezone.now(),
                text=self.name,
                author=self.member.user,
                written_at=timezone.now(),
            ).id,
            "channel_id": channel.id,
            "rule_id": make_rule(self.project, self.member).id,
            "change": "pause",
            "form": "picture",
            "run_comment_id": discuss(self.run, self.member, self.name).id,
            "notification_id": make_notification(self.run, self.member).id,
            "session_id": 1,
            "pk": 1,
            "uidb36": "1",
            "key_id": Token.objects.latest("id").id,
            "account_id": make_service_account(self.member, self.name).id,
            "rule": RULE,
            "page": "nothing",
            "archive": archive_name(),
            "language": "en",
            "version": "0" * 12,
            "kind": "dashboard",
            "thing_id": make_deleted(self.project, self.member, self.name).id,
            "dashboard_id": create_dashboard(
                self.project,
                self.name,
                Board(widgets=(CHART,)),
                user_id=self.member.user_id,
            ).id,
            "widget_id": CHART.id,
            **make_report(self.project, self.member, self.name),
            "number": 1,
            "key": "0" * 8,
            "view_id": keep_view(
                self.project,
                browser_of(self.member),
                self.name[:NAME_LENGTH],
                "sort=name",
                is_shared=False,
            ).id,
            "rest": f"runs/{self.run.id}/",
            "spool_id": getattr(self.run.spools.first(), "id", UNKNOWN_ID),
            "secret": make_sign_in_link(self.member.user),
            **make_invitation(self.member, self.project),
            **make_share(self.run, self.member, self.name),
        }

    def shared(self, known: Mapping[str, object]) -> dict[str, tuple[Project, str]]:
        """Return the project and target of a share link, by kind, except links to runs."""
        of = {
            "ladder": (self.run.project, str(known["ladder_id"])),
            "dashboard": (self.project, str(known["dashboard_id"])),
            "report": (self.project, str(known["report_id"])),
        }
        if len(self.compared) >= FEWEST:
            runs = ",".join(str(run.id) for run in self.compared)
            of["comparison"] = (self.project, f"runs={runs}")
        return of

    def kept(self) -> dict[str, object]:
        """Return the values for query strings of variants; {} for an empty project."""
        if not self.compared:
            return {}
        return {
            "runs": ",".join(str(run.id) for run in self.compared),
            "shared_run": self.run.id,
            "attribute": ATTRIBUTE,
            "file": FILE,
        }


def addresses(known: Mapping[str, object]) -> dict[str, str]:
    """Return the address of everything there is, by the name of its route."""
    found = {}
    for page in get_resolver("web.urls").url_patterns:
        # Three kinds of secrets with one name, and a link of an email.
        first = str(page.pattern).partition("/")[0]
        of = {"s": "shared", "join": "invited"}.get(first, "secret")
        values = {**known, "secret": known[of], "token": "expired"}
        named = {name: values[name] for name in page.pattern.converters}
        found[page.name] = reverse(page.name, kwargs=named)
    return found


def pages(things: Things, client: Client) -> dict[str, str]:
    """Return the addresses of whole pages, without parts, pictures and data."""
    known = things.known()
    kept = {"view": known["view_id"], **things.kept()}
    found, refusing = {}, set()
    for name, address in addresses(known).items():
        for variant in VARIANTS.get(name, ("",)):
            try:
                asked = address + variant.format(**kept)
            except KeyError:
                continue  # a project without any has no such page
            response = client.get(asked)
            response.close()
            if response.status_code == HTTPStatus.OK:
                if not response.streaming and _is_page(response.content):
                    found[f"{name}{variant}"] = asked
            elif response.status_code != HTTPStatus.METHOD_NOT_ALLOWED:
                refusing.add(name)
    # A page that no route test can open would not be tested.
    assert refusing == REFUSING, refusing ^ REFUSING
    for name, address in shared_pages(things, known, client):
        response = client.get(address)
        assert response.status_code == HTTPStatus.OK, name
        found[name] = address
    # The sign-in page redirects signed-in users.
    found["sign-in"] = reverse("sign-in")
    found["api"] = "/api/v1/docs"
    return found | NOTHING


def shared_pages(
    things: Things, known: Mapping[str, object], client: Client
) -> Iterator[tuple[str, str]]:
    """Yield names and addresses of shared pages, except those of runs."""
    for kind, (project, of) in things.shared(known).items():
        secret = share(project, things.member, kind, of, things.name)
        leads_to = client.get(reverse("shared", args=[secret]))["Location"]
        for variant in SHARED[kind]:
            yield f"shared-{kind}{variant}", f"{leads_to}{variant}"


def _is_page(content: bytes) -> bool:
    return b"<!doctype html>" in content[:100].lower()


def make_empty(member: Member) -> Things:
    """Create a project without a run, and a run without data in another project."""
    empty = make_project(member, "empty")
    bare = make_run(make_project(member, "bare"), "bare")
    Stage.objects.filter(run=bare).delete()
    return Things(member, empty, bare)


def make_one(member: Member) -> Things:
    """Create a project with one run, as after the first script."""
    project = make_project(member)
    run = make_sample_run(project, has_gpu=True)
    add_file(run, FILE, b"one\ntwo\n", "notes.txt", "text/plain")
    return Things(member, project, run, compared=(run,))


def make_full(member: Member) -> Things:
    """A project with runs of every state, findings, alerts, texts, files and a ladder."""
    project = make_project(member)
    run = make_sample_run(project, has_gpu=True)
    Run.objects.filter(id=run.id).update(started_at=timezone.now())
    make_sample_run(project, "live one", is_live=True)
    failed = make_run(project, "failed", State.FAILED, failure="ValueError: no\n" * 40)
    make_run(project, "crashed", State.CRASHED)
    make_run(project, "n" * 255)
    move_to_trash(make_run(project, "t" * 255, State.FINISHED))
    for name in ("d" * 190, "deleted, and of a long name " * 6):
        make_deleted(project, member, name)
    write_tags(run, "a tag", "t" * 100)
    write_captured(run)
    write_profile(run)
    long = [["f" * 120, "package." * 15, line] for line in (0, 7)]
    write_profile(
        run, profile(names=long, trees={"steps": [-1, 1, 5, 0, 0, 60]}), rank=8
    )
    for name in ("a/b/c/loss", "p" * 300):
        write_series(run, name, [3.0, float("nan"), 1.0])
    write(
        run,
        [records_message("logs/stdout", ["a line", "\x1b[31mred\x1b[0m " + "x" * 500])],
    )
    add_file(run, FILE, b"one\ntwo\n" * 50, "notes.txt", "text/plain")
    add_file(run, "samples/one", PICTURE, "one.png", "image/png")
    _raise_alert(failed)
    compared = tuple(make_measured_run(project, job) for job in DEMO)
    # Each process above has one of its own.
    Token.objects.filter(name="test").delete()
    run = Run.objects.get(id=run.id)
    return Things(member, project, run, compared, name="overview " + "n" * 190)


def make_service_account(member: Member, name: str) -> Member:
    workspace, audit = member.workspace, AuditContext(member.user_id)
    return create_service_account(workspace, name[:NAME_LENGTH], Role.MEMBER, audit)


def make_deleted(project: Project, member: Member, name: str) -> Dashboard:
    board = create_dashboard(project, name, Board(), user_id=member.user_id)
    delete_made(board, user_id=member.user_id)
    return board


def make_finding(run: Run) -> Finding:
    stage, _ = Stage.objects.get_or_create(run=run, name="evaluate")
    made, _ = Finding.objects.get_or_create(
        run=run,
        stage=stage,
        rule=RULE,
        defaults={
            "is_open": False,
            "severity": "warning",
            "confidence": 0.8,
            "title": "Training waits for data",
            "body": {},
            "opened_at": timezone.now(),
            "changed_at": timezone.now(),
        },
    )
    return made


def make_notification(run: Run, member: Member) -> Notification:
    for kind in NotificationKind:
        title = "Loss became NaN " * (8 if kind == NotificationKind.RULE else 1)
        news = News(
            kind, f"{kind} of a sample", title, "At step 12.", f"/runs/{run.id}/"
        )
        notify([member.user_id], news, project=run.project, run=run)
    return Notification.objects.filter(user=member.user).latest("id")


def make_rule(project: Project, member: Member) -> MetricRule:
    by = {"user_id": member.user_id}
    create_rule(project, RuleRequest("val/loss", "not-finite"), **by)
    rule_request = RuleRequest("train/*", "above", "0.1", "3", "steps", is_shared=True)
    return create_rule(project, rule_request, **by)


def discuss(run: Run, member: Member, name: str) -> RunComment:
    """Comment on a run and a finding; return a thread that is settled."""
    by = {"user_id": member.user_id}
    finding = run.findings.first()
    for about in (None, finding):
        thread = run_comments.add_comment(
            run, f"Is *that* so? {name}", about=about, **by
        )
        run_comments.add_reply(thread, "It is:\n\n    so", **by)
    settled = run_comments.add_comment(run, "Settled.", **by)
    run_comments.resolve_thread(settled, **by)
    return settled


def _raise_alert(run: Run) -> None:
    Alert.objects.create(
        project=run.project,
        run=run,
        stage="train",
        subject="state failed",
        severity="critical",
        title="Stage failed",
        summary="train of failed ended as failed. " * 5,
        raised_at=timezone.now(),
    )


def add_file(run: Run, path: str, content: bytes, name: str, kind: str) -> None:
    message = file_message(path, content, name=name, kind=kind)
    write(run, [message])
    receive(
        run.project.workspace_id,
        message["digest"],
        size=len(content),
        offset=0,
        pieces=[content],
    )


def make_report(project: Project, member: Member, name: str) -> dict[str, object]:
    """Create a report with open and resolved threads."""
    report = create_report(project, name, user_id=member.user_id)
    text = f"## A finding\n\nWhat **helped**: {name}\n\n{WRITTEN_CHART}"
    save_version(report, name, text, user_id=member.user_id, based_on=0)
    by = {"user_id": member.user_id, "version": 1}
    passages = [each for each in passages_of(parts_of(text)) if each is not None]
    gone = Passage("0" * 12, "table", "what is no longer there")
    for about in (*passages, gone, None):
        thread = add_comment(report, f"Is *that* so? {name}", about=about, **by)
        add_reply(thread, "It is:\n\n    so", **by)
    settled = add_comment(report, "Settled.", **by)
    resolve_thread(settled, user_id=member.user_id)
    later = f"{text}\n\nWritten later."
    save_version(report, name, later, user_id=member.user_id, based_on=1)
    return {"report_id": report.id, "comment_id": settled.id}


def make_invitation(member: Member, project: Project) -> dict[str, object]:
    """Create a colleague, a pending email address and an invitation."""
    workspace, audit = member.workspace, AuditContext(member.user_id)
    named = f"{workspace.slug}.{project.slug}@example.com"
    colleague, _ = User.objects.get_or_create(
        username=named, defaults={"name": "Grace Hopper", "email": named}
    )
    added, _ = Member.objects.get_or_create(
        workspace=workspace, user=colleague, defaults={"role": Role.GUEST}
    )
    ProjectMember.objects.get_or_create(
        project=project, member=added, defaults={"role": Role.VIEWER}
    )
    address = InvitationRequest(Role.MEMBER, email="new.colleague@example.com")
    invite(workspace, address, audit)
    invitation_request = InvitationRequest(Role.VIEWER, project, max_uses=None)
    secret = invite(workspace, invitation_request, audit)
    return {
        "member_id": added.id,
        "invitation_id": Invitation.objects.latest("id").id,
        "invited": secret,
    }


def make_share(run: Run, member: Member, label: str) -> dict[str, object]:
    secret = share(run.project, member, "run", str(run.id), label)
    return {"share_id": ShareLink.objects.latest("id").id, "shared": secret}


def share(project: Project, member: Member, kind: str, of: str, label: str = "") -> str:
    """Return the secret of a link with every tick."""
    link_request = LinkRequest(kind, of, frozenset(Part), label)
    return make_link(project, browser_of(member), link_request)
