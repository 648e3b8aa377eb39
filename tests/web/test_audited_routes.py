"""Every form that only owners and admins may send leaves an entry in the audit log.

A new such route needs its form in `RECORDED`, or its name in `NOT_SETTINGS`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from tests.web.every_page import RULE
from tests.web.route_site import PARAMETER, Site, page_routes
from tests.web.route_table import page_rows
from tracker.models import AuditEntry

pytestmark = [pytest.mark.django_db, pytest.mark.database]

# The answers of routes that admins and owners, or owners, may use and others not.
MANAGED = ("s443333+++", "s4433333++", "s444333+++", "s3+3333+++")
NEW_KEY = {"name": "new", "scope": "read", "days": "30", "access": "all"}
PROJECT = {"name": "New name", "description": "", "owner": ""}
# Forms that change something, by the name of the route.
RECORDED: dict[str, dict[str, str]] = {
    "invite": {"role": "member", "expires_days": "7", "max_uses": "1"},
    "invitation-renew": {},
    "invitation-revoke": {},
    "member-role": {"role": "viewer"},
    "member-deactivate": {},
    "member-reset-link": {},
    "member-second-factor": {},
    "member-offboard": {},
    "member-remove": {},
    "workspace-key-revoke": {},
    "service-account-new": {"name": "new", "role": "member", "access": "all"},
    "service-account": NEW_KEY,
    "service-account-delete": {},
    "workspace-settings": {"name": "New name", "access": "open"},
    "workspace-new": {"name": "Another"},
    "run-delete": {},
    "alerts": {
        "kind": "webhook",
        "address": "https://chat.example.com/hook",
        "severity": "warning",
    },
    "channel-remove": {},
    "trash-empty": {},
    "project-settings": {"retention_days": "30"},
    "rule-settings": {"rule": RULE, "on": "on"},
    "project-members": {"who": "viewer", "role": "member"},
    "project-access": {},
    "project-member-role": {"role": "admin"},
    "project-member-remove": {},
    "metric-rule": {"path": "loss", "condition": "not-finite", "shared": "on"},
    "project-change": PROJECT,
    "project-archive": {},
    "project-delete": {"name": "vision"},
    "shares": {"kind": "run", "of": "{run_id}"},
    "share-revoke": {},
    "project-new": {"name": "Another"},
}
# Members' texts are stored with their author; tests and repeated attempts change
# nothing.
NOT_SETTINGS = {
    "annotation-edit",
    "annotation-delete",
    "annotation-restore",
    "comment-delete",
    "comment-restore",
    "run-comment-delete",
    "run-comment-restore",
    "deleted-delete",
    "channel-try",
    "channel-again",
}
# Undone by the route before them, so their tests are those of the actions.
NEEDS_ANOTHER_STATE = {
    "member-reactivate",
    "member-confirm-email",
    "project-restore",
    "workspace-delete",
    "metric-rule-change",
}


def test_every_managed_form_is_listed() -> None:
    managed = {
        name
        for (method, name), answers in page_rows().items()
        if method == "POST" and answers in MANAGED
    }

    assert managed <= RECORDED.keys() | NOT_SETTINGS | NEEDS_ANOTHER_STATE


# Any: the settings of pytest-django.
def test_every_managed_form_leaves_an_entry(settings: Any, tmp_path: Path) -> None:
    settings.DATA_FOLDER = tmp_path
    site, routes = Site(), dict(page_routes())

    silent = [
        name for name, form in RECORDED.items() if not entries(site, routes, name, form)
    ]

    assert silent == []


def entries(site: Site, routes: dict[str, str], name: str, form: dict[str, str]) -> int:
    """Send a form, roll back its change, and return the number of audit entries."""
    known = site.known["project"]
    values = {**known, **known["special"].get(name, {})}
    path = PARAMETER.sub(lambda found: str(values[found[2]]), routes[name])
    with transaction.atomic():
        before = AuditEntry.objects.count()
        texts = {field: text.format(**values) for field, text in form.items()}
        site.clients["maker"].post(path, texts)
        count = AuditEntry.objects.count() - before
        transaction.set_rollback(True)
    return count
