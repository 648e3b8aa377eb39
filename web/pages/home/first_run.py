"""Setup instructions for users without runs: a script, and the login command."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from tracker.actor import Actor
from tracker.queries.projects.members import memberships
from web.pages.sdk.addresses import install_command
from web.snippets import first_run, start_elsewhere

READERS = ("viewer", "guest")
KEY_DAYS = 365
ANY_PROJECT = "my-project"


# Any: a template's context.
def first_run_context(
    actor: Actor, *, project: str = "", workspace: str = "", secret: str = ""
) -> dict[str, Any]:
    """Return the context of components/first_run.html, with this server's address.

    Without a project the snippet has an example name; without a workspace all are
    offered.
    """
    slug = project or ANY_PROJECT
    writable = [
        each
        for each in memberships(actor)
        if each.role not in READERS and workspace in ("", each.slug)
    ]
    return {
        "may_log": bool(writable),
        # Scripts of the user who runs `up` find the server without a setting.
        "is_local": settings.IS_SQLITE,
        "snippet": first_run(slug),
        "install": install_command(),
        "elsewhere": start_elsewhere(install_command(), settings.PUBLIC_URL, secret),
        "memberships": writable,
        "secret": secret,
        "first_project": slug,
        "key_days": KEY_DAYS,
    }
