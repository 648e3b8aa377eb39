"""A site with every role, and requests to every route as each of them."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from django.db import transaction
from django.test import Client
from django.urls import URLPattern, get_resolver

from tests.builders import (
    make_member,
    make_project,
    make_run,
    records_message,
    write,
    write_series,
)
from tests.web.every_page import (
    FILE,
    PICTURE,
    POINTS,
    RULE,
    SOUND,
    TABLE,
    Things,
    add_file,
)
from tests.web.route_table import ROLES
from tracker.actions.access import make_token
from tracker.actions.report_comments import add_comment, delete_comment
from tracker.actions.runs import run_comments
from tracker.actions.runs.annotations import annotate, delete_annotation
from tracker.actions.runs.trash import move_to_trash
from tracker.actor import Actor, Scope
from tracker.api.urls import v1
from tracker.models import Member, Project, ProjectMember, Report, Role
from web.pages.reports.text import readable_blocks

PARAMETER = re.compile(r"[<{](?:(\w+):)?(\w+)[>}]")
API = "/api/v1/"
# Other sites of an address, with the column of the table that applies to each role.
ELSEWHERE = {
    "closed project": {
        "guest": "guest of another project",
        "viewer": "guest of another project",
        "member": "guest of another project",
        "admin": "admin",
    },
    "another workspace": {"owner": "outsider", "viewer": "outsider"},
}
# Requests that would be rejected as incomplete before the permission check.
QUERIES = {
    "/api/v1/runs/{run_id}/series": "?path=train/loss",
    "/api/v1/runs/{run_id}/records": "?path=texts",
    "/api/v1/runs/{run_id}/records/found": "?path=texts&text=a",
    "/api/v1/runs/{run_id}/records/text": "?path=texts",
    "/api/v1/runs/{run_id}/files/content": "?path=notes",
    "/api/v1/projects/{workspace}/{project}/series": "?run={run_id}",
    "/api/v1/projects/{workspace}/{project}/points": "?run={run_id}&path=train/loss",
}
TABLE_TYPE = "application/vnd.seamark.table+json"
POINTS_TYPE = "application/vnd.seamark.points"
PAGE_QUERIES = {
    "run-series": "?path=train/loss",
    "run-charts-figures": "?chart=path%3Dtrain/loss",
    "run-histograms": "?path=train/loss",
    "run-evidence": f"?stage=evaluate&rule={RULE}",
    "run-media-panel": "?path=picture",
    "run-media-file": "?path=sound",
    "run-media-html": "?path=html",
    "run-media-table": "?path=table",
    "run-media-table-csv": "?path=table",
    "run-media-points": "?path=points",
    "run-file-preview": f"?path={FILE}",
    "run-file-picture": "?path=picture",
    "run-file-figure": f"?path={FILE}",
    "run-file-html": f"?path={FILE}",
    "compare-figure": "?path=train/loss&runs={run_id}",
    "compare-figures": "?figure=path%3Dtrain/loss&runs={run_id}",
    "compare-media": "?path=texts&runs={run_id}",
    "share": "?kind=run&of={run_id}",
}
FORMS = {
    "first-key": {"workspace": "{workspace}"},
    "keys": {"workspace": "{workspace}"},
    "rule-settings": {"rule": RULE, "reset": "1"},
    "shares": {"kind": "run", "of": "{run_id}"},
    "member-role": {"role": "viewer"},
    "invite": {"role": "member"},
    "run-move": {"project": "other"},
    "runs-move": {"runs": "{run_id}"},
    "project-member-role": {"role": "viewer"},
}
OF_WORKSPACE = "/api/v1/workspaces/{workspace}"
OF_PROJECT = "/api/v1/projects/{workspace}/{project}"
BODIES = {
    f"POST {OF_PROJECT}/ladders": {"name": "new", "rungs": [{"run": "run"}]},
    f"PATCH {OF_PROJECT}": {"retention_days": None},
    "POST /api/v1/workspaces": {"name": "new"},
    f"PATCH {OF_WORKSPACE}": {"description": "new"},
    f"POST {OF_WORKSPACE}/keys": {"name": "new", "scope": "read"},
    f"POST {OF_WORKSPACE}/service-accounts": {"name": "new"},
    f"POST {OF_WORKSPACE}/projects": {"name": "new"},
    f"POST {OF_PROJECT}/move-runs": {"runs": [], "to": "other"},
    f"POST {OF_PROJECT}/metric-rules": {"path": "loss", "condition": "not-finite"},
    f"PATCH {OF_PROJECT}/metric-rules/{{rule_id}}": {"is_paused": True},
    "POST /api/v1/runs/{run_id}/comments": {"text": "new"},
    "PATCH /api/v1/runs/{run_id}/comments/{run_comment_id}": {"text": "new"},
    f"POST {OF_PROJECT}/members": {"who": "member", "role": "viewer"},
    f"PUT {OF_PROJECT}/access": {"is_open": True},
}
SIGN_IN, FORBIDDEN, ABSENT, IN = "s34+"


def page_routes() -> Iterator[tuple[str, str]]:
    """Yield the name and the address of each page's route."""
    for pattern in get_resolver("web.urls").url_patterns:
        assert isinstance(pattern, URLPattern)
        yield pattern.name or "", f"/{pattern.pattern}"


def api_routes() -> Iterator[tuple[str, str]]:
    """Yield the method and the address of each operation of the API."""
    for path, operations in v1.get_openapi_schema()["paths"].items():
        for method in operations:
            yield method.upper(), path


class Site:
    def __init__(self, accept: str = "text/html") -> None:
        self.accept = accept
        self.maker = make_member("maker")
        workspace = self.maker.workspace
        self.project = make_project(self.maker, "vision")
        closed = make_project(self.maker, "closed")
        closed.is_open = False
        closed.save()
        other = make_project(self.maker, "other")
        stranger = make_member("stranger")
        self.clients = {"anonymous": Client(), "maker": signed_in(self.maker)}
        self.keys = {"anonymous": Client(), "maker": with_key(self.maker)}
        for role in ROLES[1:-1]:
            of_workspace = Role.GUEST if role.startswith("guest") else role
            if role in ("deactivated", "outsider"):
                of_workspace = Role.OWNER
            member = make_member(
                role.replace(" ", "-"),
                of_workspace,
                workspace=None if role == "outsider" else workspace,
            )
            if role.startswith("guest"):
                added = self.project if role == "guest" else other
                ProjectMember.objects.create(
                    project=added, member=member, role=Role.VIEWER
                )
            self.clients[role], self.keys[role] = signed_in(member), with_key(member)
            if role == "deactivated":
                member.is_active = False
                member.save()
        self.known = {
            "project": things(self.project, self.maker),
            "closed project": things(closed, self.maker),
            "another workspace": things(make_project(stranger, "vision"), stranger),
        }

    def page(self, role: str, place: str, method: str, name: str, route: str) -> str:
        known = self.known[place]
        values = {**known, **known["special"].get(name, {})}
        if route.startswith("/s/"):
            values["secret"] = known["shared"]
        if route.startswith("/join/"):
            values["secret"] = known["invited"]
        path = PARAMETER.sub(lambda found: str(values[found[2]]), route)
        if method == "POST":
            form = {
                key: text.format(**values) for key, text in FORMS.get(name, {}).items()
            }
            return sent(self.clients[role], method, path, form, accept=self.accept)
        query = PAGE_QUERIES.get(name, "").format(**values)
        return sent(self.clients[role], method, path + query, accept=self.accept)

    def api(self, role: str, place: str, method: str, route: str) -> str:
        known = self.known[place]
        values = {**known, **known["special"].get(f"{method} {route}", {})}
        path = PARAMETER.sub(lambda found: str(values[found[2]]), route)
        body = BODIES.get(f"{method} {route}", {})
        query = QUERIES.get(route, "").format(**values)
        return sent(self.keys[role], method, path + query, body)


def sent(
    client: Client, method: str, path: str, body: Any = None, accept: str = "*/*"
) -> str:
    """Send a request, roll back its changes, and return the outcome."""
    cookies = copy.copy(client.cookies)
    with transaction.atomic():
        options: dict[str, Any] = {"headers": {"accept": accept}}
        if body is not None:
            options["data"] = body
        if path.startswith(API) and method != "GET":
            options["data"] = json.dumps(body)
            options["content_type"] = "application/json"
        response = getattr(client, method.lower())(path, **options)
        if response.streaming:
            # Closes its files, and not the connection of the transaction.
            list(response.streaming_content)
        transaction.set_rollback(True)
    # Signing out is undone, too.
    client.cookies = cookies
    status = response.status_code
    is_sent_away = response.get("Location", "").startswith("/sign-in")
    if status == HTTPStatus.UNAUTHORIZED or is_sent_away:
        return SIGN_IN
    # 503 is expected from /readyz on a busy machine.
    if (
        status >= HTTPStatus.INTERNAL_SERVER_ERROR
        and status != HTTPStatus.SERVICE_UNAVAILABLE
    ):
        return str(status)
    return {403: FORBIDDEN, 404: ABSENT, 405: "m"}.get(status, IN)


def signed_in(member: Member) -> Client:
    client = Client()
    client.force_login(member.user)
    return client


def with_key(member: Member) -> Client:
    key = make_token(member, "test", Scope.MANAGE)
    return Client(headers={"authorization": f"Bearer {key}"})


def things(project: Project, maker: Member) -> dict[str, Any]:
    """Return a value for each parameter; `special` has those of single routes."""
    run = make_run(project, "run", "finished")
    write_series(run, "train/loss", [1.0, 2.0])
    write(run, [records_message("texts", ["a"])])
    known = Things(maker, project, run).known()
    add_file(run, FILE, b"text", "notes.txt", "text/plain")
    add_file(run, "picture", PICTURE, "picture.png", "image/png")
    add_file(run, "sound", SOUND, "sound.wav", "audio/wav")
    add_file(run, "points", POINTS, "scan.points", POINTS_TYPE)
    add_file(run, "table", TABLE, "labels.table.json", TABLE_TYPE)
    add_file(run, "html", b"<b>bold</b>", "page.html", "text/html")
    trashed = make_run(project, "trashed", "finished")
    move_to_trash(trashed)
    by = maker.user_id
    gone = annotate(run, "train/loss", 0, "gone", Actor(by))
    delete_annotation(gone, user_id=by)
    report = Report.objects.get(id=str(known["report_id"]))
    comment = add_comment(report, "gone", user_id=by, version=1)
    delete_comment(comment, user_id=by)
    remark = run_comments.add_comment(run, "gone", user_id=by)
    run_comments.delete_comment(remark, user_id=by)
    in_trash = {"run_id": trashed.id}
    block = {"key": readable_blocks(report.text)[0].key}
    return {
        **known,
        "digest": "0" * 64,
        "form": "picture",
        "token": "x",
        "special": {
            "run-restore": in_trash,
            "run-delete": in_trash,
            "POST /api/v1/runs/{run_id}/restore": in_trash,
            "DELETE /api/v1/runs/{run_id}": in_trash,
            "report-widget-body": block,
            "report-widget-figure": block,
            "annotation-restore": {"annotation_id": gone.id},
            "comment-restore": {"comment_id": comment.id},
            "run-comment-restore": {"run_comment_id": remark.id},
        },
    }
