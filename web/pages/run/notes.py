"""A run's description, tags and pinned metrics."""

from __future__ import annotations

from uuid import UUID

from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from tracker.access.runs import editable_run
from tracker.actions.key_metrics import pin_metric, unpin_metric
from tracker.actions.runs.descriptions import describe
from tracker.actions.runs.run_names import rename_run
from tracker.errors import InvalidInput
from web.session import PageRequest, local_path, signed_in
from web.toasts import tell


@require_POST
@signed_in
def describe_run(request: PageRequest, run_id: UUID) -> HttpResponse:
    """Change a run's name, description and tags; return to the page of the form."""
    run = editable_run(request.actor, run_id)
    if "name" in request.POST:
        try:
            rename_run(run, request.POST["name"])
        except InvalidInput as error:
            tell(request, gettext("Rename failed: %(why)s") % {"why": error})
    describe(
        run,
        request.POST.get("description"),
        add=request.POST.get("add", "").replace("\n", ",").split(","),
        remove=request.POST.getlist("remove"),
    )
    address = request.POST.get("next") or reverse("run", args=[run_id])
    return HttpResponseRedirect(local_path(request, address))


@require_POST
@signed_in
def choose_metric(request: PageRequest, run_id: UUID) -> HttpResponse:
    """Pin a metric for all runs of the project, or take that back."""
    project = editable_run(request.actor, run_id).project
    path = request.POST.get("path", "")
    if request.POST.get("unpin"):
        unpin_metric(project, path)
    else:
        pin_metric(project, path)
    return HttpResponseRedirect(f"{reverse('run', args=[run_id])}#metrics")
