"""Dismissing and restoring findings."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from tracker.access.runs import editable_run
from tracker.actions.diagnoses.findings import bring_back, dismiss
from web.session import PageRequest, signed_in
from web.toasts import tell


@require_POST
@signed_in
def dismiss_finding(
    request: PageRequest, run_id: UUID, finding_id: int
) -> HttpResponse:
    run = editable_run(request.actor, run_id)
    dismiss(run, finding_id, request.actor, request.POST.get("reason", ""))
    undo = reverse("finding-bring-back", args=[run_id, finding_id])
    tell(request, gettext("Finding dismissed."), undo=undo)
    return HttpResponseRedirect(reverse("run", args=[run_id]))


@require_POST
@signed_in
def bring_finding_back(
    request: PageRequest, run_id: UUID, finding_id: int
) -> HttpResponse:
    bring_back(editable_run(request.actor, run_id), finding_id)
    tell(request, gettext("Finding restored."))
    return HttpResponseRedirect(reverse("run", args=[run_id]))
