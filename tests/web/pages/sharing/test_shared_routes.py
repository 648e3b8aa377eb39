"""Each route is either open to share links of its run, or closed.

A new route needs an entry here, and in web/pages/sharing/shared_routes.py if it is
open.
"""

from __future__ import annotations

import re
from uuid import UUID

import pytest
from django.apps import apps
from django.db.models import QuerySet
from django.test import Client
from django.urls import URLPattern, get_resolver

from tests.builders import make_project, write_series
from tests.web.every_page import Things
from tests.web.shared_boards import CHART, MEDIA, TEXT, picture_of
from tests.web.shared_site import ALL_PARTS, make_site
from tracker.actor import Part
from tracker.models import Finding
from tracker.shares import KINDS
from web.pages.reports.blocks import key_of
from web.pages.reports.text import readable_blocks
from web.pages.sharing.shared_routes import OPEN

pytestmark = [pytest.mark.django_db, pytest.mark.database]

# Closed to visitors, whatever parts the link shares.
CLOSED = {
    # Other things of the project, lists of them, and its settings.
    "projects",
    "run-address",
    "runs",
    "runs-page",
    "run-names",
    "runs-groups",
    "runs-columns",
    "runs-charts",
    "runs-csv",
    "places",
    "alerts",
    "metric-rule-new",
    "metric-rule",
    "metric-rule-change",
    "trash",
    "project-settings",
    "gpu-hours",
    "rule-settings",
    "ladders",
    "compare-search",
    "dashboards",
    "reports",
    "shares",
    "share",
    # Contents that no part covers: all attributes at once, and texts for members.
    "run-attributes-csv",
    "dashboard-runs",
    "report-versions",
    # Pages of users.
    "inbox",
    "inbox-bell",
    "notification",
    "notifications",
    "notification-test-mail",
    "notification-test-webhook",
    "notification-mark",
    "inbox-read",
    "join",
    "members",
    "invite",
    "member",
    "member-role",
    "member-deactivate",
    "member-reactivate",
    "member-offboard",
    "member-remove",
    "invitation-renew",
    "invitation-revoke",
    "project-members",
    "project-access",
    "project-member-role",
    "project-member-remove",
    "sign-in",
    "sign-in-link",
    "sign-out",
    "account_login",
    "account_inactive",
    "confirm-email",
    "member-confirm-email",
    "member-reset-link",
    "member-second-factor",
    "openid_connect_login",
    "openid_connect_callback",
    "account_reset_password",
    "account_reset_password_done",
    "account_reset_password_from_key",
    "account_change_password",
    "account_set_password",
    "account_reauthenticate",
    "mfa_index",
    "mfa_authenticate",
    "mfa_reauthenticate",
    "mfa_reauthenticate_webauthn",
    "mfa_activate_totp",
    "mfa_deactivate_totp",
    "mfa_add_webauthn",
    "mfa_remove_webauthn",
    "mfa_login_webauthn",
    "mfa_view_recovery_codes",
    "mfa_generate_recovery_codes",
    "account",
    "security",
    "sessions",
    "end-session",
    "end-other-sessions",
    "keys",
    "keys-old-address",
    "first-key",
    "key-revoke",
    "run-move",
    "workspace",
    "workspace-new",
    "workspace-settings",
    "workspace-delete",
    "project-new",
    "project-change",
    "project-archive",
    "project-restore",
    "project-delete",
    "audit",
    "audit-csv",
    "workspace-keys",
    "workspace-key-revoke",
    "service-account",
    "service-account-new",
    "service-account-delete",
    # Changes.
    "runs-move",
    "runs-tag",
    "runs-trash",
    "runs-restore",
    "runs-changed",
    "view-keep",
    "view-change",
    "view-delete",
    "charts-arrangement",
    "panel-form",
    "panel-dashboard",
    "annotation-add",
    "annotation-edit",
    "annotation-delete",
    "annotation-restore",
    "run-describe",
    "run-comments",
    "run-comment-answer",
    "run-comment-edit",
    "run-comment-delete",
    "run-comment-restore",
    "run-comment-resolve",
    "run-comment-reopen",
    "project-readers",
    "run-follow",
    "project-follow",
    "run-metric",
    "ladder-note",
    "dashboard-rename",
    "dashboard-duplicate",
    "dashboard-delete",
    "widget-new",
    "widget-edit",
    "widget-place",
    "widget-remove",
    "widget-put-back",
    "report-restore",
    "report-delete",
    "report-edit",
    "report-draft",
    "report-discard",
    "report-widget",
    # Discussions of members.
    "report-comments",
    "comment-answer",
    "comment-edit",
    "comment-delete",
    "comment-restore",
    "comment-resolve",
    "comment-reopen",
    "run-trash",
    "run-restore",
    "run-delete",
    "run-pin",
    "run-unpin",
    "finding-dismiss",
    "finding-bring-back",
    "channel-try",
    "channel-again",
    "channel-remove",
    "trash-empty",
    "deleted-restore",
    "deleted-delete",
    "ladder-edit",
    "ladder-delete",
    "share-revoke",
    # A link within a link.
    "shared",
    "shared-page",
    # Ingest endpoints of agents.
    "ingest",
    "blob",
    # Pages of the server; texts of scripts have their own address.
    "texts",
    "help",
    "help-page",
    "sdk",
    "sdk-archive",
    "livez",
    "readyz",
}
# API operations are closed, except those used by the pages.
API = "api-v1:"
METHODS = ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]
PARAMETER = re.compile(r"<(?:(\w+):)?(\w+)>")
PANEL = (
    '{"id": "c0c0c0c0", "kind": "histograms", "settings": {"path": "weights/layer"}}'
)
# Required query parameters.
QUERIES = {
    "run-series": {"path": "train/loss"},
    "run-charts-figures": {"chart": "path=train/loss"},
    "run-histograms": {"path": "gradients"},
    "run-evidence": {"stage": "train", "rule": "data-wait-dominates"},
    "run-media-panel": {"path": "pictures/name-of-picture"},
    "run-media-file": {"path": "sounds/name-of-sound"},
    "run-media-html": {"path": "pages/name-of-page"},
    "run-media-table": {"path": "tables/name-of-table"},
    "run-media-table-csv": {"path": "tables/name-of-table"},
    "run-media-points": {"path": "clouds/name-of-points"},
    "run-file-preview": {"path": "pictures/name-of-picture"},
    "run-file-picture": {"path": "pictures/name-of-picture"},
    "run-file-figure": {"path": "pictures/name-of-picture"},
    "run-file-html": {"path": "pictures/name-of-figure"},
    "panel-body": {"panel": PANEL},
    "panel-figure": {"panel": PANEL},
    "compare-figure": {"path": "train/loss"},
    "compare-figures": {"figure": "path=train/loss"},
    "compare-media": {"path": "samples"},
    "api-v1:read_records": {"path": "monitoring/train/stdout"},
    "api-v1:find_records": {"path": "monitoring/train/stdout", "text": "line"},
    "api-v1:download_text": {"path": "monitoring/train/stdout"},
    "api-v1:read_content": {"path": "pictures/name-of-picture"},
}
RUN_ROUTES = sorted(
    name
    for name in OPEN
    if (name.startswith("run") and name != "rule") or name.startswith(API)
)


def kind_of(name):
    """Return the kind of link that opens a route, if any does."""
    for start, kind in (
        ("ladder", "ladder"),
        ("dashboard", "dashboard"),
        ("widget", "dashboard"),
        ("report", "report"),
    ):
        if name.startswith(start):
            return kind
    return "comparison"


def routes(patterns, prefix="", space=""):
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield f"{space}{pattern.name}", route
        else:
            inner = f"{pattern.namespace}:" if pattern.namespace else space
            yield from routes(pattern.url_patterns, route, inner)


def all_routes():
    return sorted(set(routes(get_resolver().url_patterns)))


class Reader(Client):
    """Reads answers to their end: the number of concurrent exports is limited."""

    def get(self, *args, **kwargs):
        response = super().get(*args, **kwargs)
        if response.streaming:
            b"".join(response)
        return response


@pytest.fixture
def site(member, settings, tmp_path):
    settings.DATA_FOLDER = tmp_path
    return make_site(make_project(member), member)


@pytest.fixture
def address(site):
    """Return a function from a route to the address of something that exists."""
    write_series(site.first, "loss", [1.0, 2.0])
    things = {
        **Things(site.maker, site.project, site.first).known(),
        "ladder_id": site.ladder.id,
        "dashboard_id": site.dashboard.id,
        "report_id": site.report.id,
        "finding_id": Finding.objects.filter(run=site.first).first().id,
    }

    picture = key_of(picture_of(site.first))
    blocks = readable_blocks(site.report.text)
    media_block = next(each for each in blocks if each.widget.kind == "media")
    within = {
        "dashboards/": {"widget_id": CHART},
        "dashboards/<uuid:dashboard_id>/widgets/<str:widget_id>/pictures": {
            "widget_id": TEXT,
            "key": picture,
        },
        "dashboards/<uuid:dashboard_id>/widgets/<str:widget_id>/media": {
            "widget_id": MEDIA,
            "form": "picture",
        },
        "reports/": {"key": readable_blocks(site.report.text)[0].key},
        "reports/<uuid:report_id>/pictures": {"key": picture},
        "reports/<uuid:report_id>/widgets/<str:key>/media": {
            "key": media_block.key,
            "form": "picture",
        },
    }

    def of(route, **other):
        found = [more for start, more in within.items() if route.startswith(start)]
        known = {**things, **(found[-1] if found else {}), **other}
        return PARAMETER.sub(lambda match: str(known.get(match[2], "1")), route)

    return of


def test_somebody_has_decided_for_each_route():
    names = {name for name, _ in all_routes() if not name.startswith(API)}

    assert names - OPEN.keys() - CLOSED == set(), "open or closed to share links?"
    assert names >= CLOSED
    assert {name for name, _ in all_routes()} >= OPEN.keys()
    assert CLOSED & OPEN.keys() == set()


def test_what_is_open_answers_and_all_else_is_refused(site, address):
    bases = {kind: site.link(kind, ALL_PARTS) for kind in KINDS}
    client = Reader()

    wrong = {}
    for name, route in all_routes():
        if not route:
            continue  # the link's own address, which redirects to its target
        kind = kind_of(name)
        query = QUERIES.get(name, {})
        if name.startswith(("compare", "panel")):
            query = {**query, "runs": f"{site.first.id},{site.second.id}"}
        response = client.get(bases[kind] + address(route), query)
        if response.status_code != (200 if name in OPEN else 404):
            wrong[name] = response.status_code

    assert wrong == {}


def test_nothing_is_written_by_any_method(site, address):
    bases = {kind: site.link(kind, ALL_PARTS) for kind in KINDS}
    client = Reader()
    before = stored()

    answering = {
        (method, name)
        for name, route in all_routes()
        for method in METHODS
        if client.generic(method, bases[kind_of(name)] + address(route)).status_code
        not in (403, 405)
    }

    assert answering == set()
    assert stored() == before


def stored():
    models = apps.get_app_config("tracker").get_models()
    return {model: list(QuerySet(model).order_by("pk").values()) for model in models}


def test_another_run_s_pages_are_not_there(site, address):
    base, found = site.link("run", ALL_PARTS), dict(all_routes())
    client = Reader()

    def ask(name, run_id):
        path = base + address(found[name], run_id=run_id)
        return client.get(path, QUERIES.get(name, {}))

    for name in RUN_ROUTES:
        unknown = ask(name, UUID(int=7))
        assert (name, unknown.status_code) == (name, 404)
        for run in (site.second, site.sibling):
            other = ask(name, run.id)
            assert (name, other.status_code) == (name, 404)
            assert other.content == unknown.content


def test_what_needs_a_tick_is_not_there_without(site, address):
    found, client = dict(all_routes()), Reader()
    for part in Part:
        for name in [name for name, needed in OPEN.items() if needed == part]:
            kind = kind_of(name)
            without = site.link(kind, ALL_PARTS - {part})
            alone = site.link(kind, frozenset({part}))
            path, query = address(found[name]), QUERIES.get(name, {})
            assert (name, client.get(without + path, query).status_code) == (name, 404)
            assert (name, client.get(alone + path, query).status_code) == (name, 200)


def test_ladders_and_comparisons_are_not_there_by_a_run_s_link(site, address):
    base = site.link("run", ALL_PARTS)
    client, found = Reader(), dict(all_routes())

    for ladder in (site.ladder, site.other_ladder):
        for name in ("ladder", "ladder-figure", "ladder-report"):
            path = base + address(found[name], ladder_id=ladder.id)
            assert client.get(path).status_code == 404
    compared = client.get(
        base + address(found["compare"]),
        {"runs": f"{site.first.id},{site.second.id},{site.sibling.id}"},
    ).content.decode()
    assert ">first<" in compared
    assert ">second<" not in compared
    assert ">sibling<" not in compared


def test_another_ladder_is_not_there_by_a_ladder_s_link(site, address):
    base, found = site.link("ladder", ALL_PARTS), dict(all_routes())

    for name in ("ladder", "ladder-figure", "ladder-report"):
        other = address(found[name], ladder_id=site.other_ladder.id)
        assert (name, Reader().get(base + other).status_code) == (name, 404)


@pytest.mark.parametrize("kind", ["dashboard", "report"])
def test_of_dashboards_and_reports_one_is_there_and_no_run(site, address, kind):
    base, found, client = site.link(kind, ALL_PARTS), dict(all_routes()), Reader()
    other = "report" if kind == "dashboard" else "dashboard"

    def status(name, **known):
        path = base + address(found[name], **known)
        return client.get(path, QUERIES.get(name, {})).status_code

    of_kind = [name for name in OPEN if kind_of(name) == kind]
    assert {status(name) for name in of_kind} == {200}
    sibling = {f"{kind}_id": getattr(site, f"other_{kind}").id}
    assert {status(name, **sibling) for name in of_kind} == {404}
    assert {status(name) for name in OPEN if kind_of(name) == other} == {404}
    for name in [*RUN_ROUTES, "ladder", "ladder-figure"]:
        assert (name, status(name)) == (name, 404)


def test_every_part_has_a_route_that_needs_it():
    assert {part for part in OPEN.values() if part} == set(Part)
