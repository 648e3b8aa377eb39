"""Deletes, restores and purges saved views, dashboards, ladders and reports."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from tracker.access.objects import deleted_item, purgeable_item
from tracker.actions.deletions import delete_made, delete_made_for_good, restore_made
from web.session import PageRequest, signed_in
from web.texts import gettext_lazy
from web.toasts import quoted, tell

# Names of object kinds in the trash.
WORDS = {
    "ladder": gettext_lazy("ladder"),
    "dashboard": gettext_lazy("dashboard"),
    "report": gettext_lazy("report"),
    "view": gettext_lazy("view"),
}


# Any: a row of one of four tables, which pages do not import.
def delete_with_way_back(request: PageRequest, kind: str, item: Any) -> None:
    """Move a thing to the trash, and offer to undo that on the next page."""
    delete_made(item, user_id=request.actor.user_id)
    template = gettext("%(name)s moved to the trash. Runs are not affected.")
    undo = reverse("deleted-restore", args=[kind, item.id])
    tell(request, template % {"name": quoted(item.name)}, undo=undo)


@require_POST
@signed_in
def restore(request: PageRequest, kind: str, thing_id: UUID) -> HttpResponse:
    item = deleted_item(request.actor, kind, thing_id)
    before = item.name
    restore_made(item)
    template = (
        gettext("%(name)s restored.")
        if item.name == before
        else gettext("Restored as %(name)s because the old name is taken.")
    )
    tell(request, template % {"name": quoted(item.name)})
    return HttpResponseRedirect(_address(kind, item))


@require_POST
@signed_in
def delete(request: PageRequest, kind: str, thing_id: UUID) -> HttpResponse:
    """Delete a trashed object permanently."""
    item = purgeable_item(request.actor, kind, thing_id)
    name, project = item.name, item.project
    delete_made_for_good(item)
    template = gettext("%(name)s permanently deleted.")
    tell(request, template % {"name": quoted(name)})
    return HttpResponseRedirect(
        reverse("trash", args=[project.workspace.slug, project.slug])
    )


def _address(kind: str, item: Any) -> str:
    if kind != "view":
        return reverse(kind, args=[item.id])
    project = item.project
    runs = reverse("runs", args=[project.workspace.slug, project.slug])
    return f"{runs}?view={item.id}"
