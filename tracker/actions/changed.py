"""The error for a concurrent change of the same object."""

from __future__ import annotations

from django.db.models import QuerySet

from tracker.errors import Changed
from tracker.models import Dashboard, Report


def changed_meanwhile(
    row: QuerySet[Dashboard] | QuerySet[Report], what: str
) -> Changed:
    """Return the error with the other user's name and the current version."""
    found = row.select_related("changed_by").first()
    username = found.changed_by.username if found and found.changed_by else ""
    return Changed(what, username, version=found.version if found else 0)
