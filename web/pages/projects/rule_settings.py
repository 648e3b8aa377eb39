"""The rules of a project: which are enabled, and their limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from tracker.access.projects import may_own, owned_project, readable_project
from tracker.actions.diagnoses.rule_settings import reset_rule, set_rule
from tracker.errors import InvalidInput
from tracker.queries.diagnoses.rule_settings import rule_groups
from web.request_actor import audit_context
from web.session import PageRequest, signed_in
from web.toasts import tell

LIMIT = "limit:"
MAX_CHARACTERS = 40


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def rule_settings(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    if request.method != "POST":
        return _page(request, readable_project(request.actor, workspace, project))

    found = owned_project(request.actor, workspace, project)
    rule = request.POST.get("rule", "")
    try:
        if "reset" in request.POST:
            reset_rule(found, rule, audit_context(request))
        else:
            limits = _limits(request.POST.dict())
            set_rule(
                found,
                rule,
                audit_context(request),
                is_off="on" not in request.POST,
                limits=limits,
            )
    except InvalidInput as refusal:
        return _page(request, found, rule=rule, error=refusal)
    tell(request, gettext("Saved."))
    address = reverse("rule-settings", args=[workspace, project])
    return HttpResponseRedirect(f"{address}?open={rule}#{rule}")


def _limits(typed: Mapping[str, Any]) -> dict[str, float]:
    """Read the fields of limits; an empty one is the rule's own."""
    limits = {}
    for field, text in typed.items():
        stripped = str(text).strip().replace(",", ".")[:MAX_CHARACTERS]
        if field.startswith(LIMIT) and stripped:
            name = field.removeprefix(LIMIT)
            try:
                limits[name] = float(stripped)
            except ValueError as error:
                raise InvalidInput(name, "must be a number") from error
    return limits


# Any: a row of the projects table, which pages do not import.
def _page(
    request: PageRequest,
    project: Any,
    *,
    rule: str = "",
    error: InvalidInput | None = None,
) -> HttpResponse:
    groups = rule_groups(project)
    context = {
        "project": project,
        "tab": "settings",
        "groups": groups,
        "rule_count": sum(len(group.rules) for group in groups),
        "changed": sum(row.is_changed for group in groups for row in group.rules),
        "may_own": may_own(request.actor, project),
        "open": rule or request.GET.get("open", ""),
        "error": error,
        "refused": rule if error else "",
        "typed": {
            field.removeprefix(LIMIT): text
            for field, text in request.POST.items()
            if field.startswith(LIMIT)
        },
        "typed_on": "on" in request.POST,
    }
    status = 400 if error else 200
    return render(request, "projects/rule_settings.html", context, status=status)
