"""Access to a project: the whole workspace, or chosen members with their roles."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from tracker.access.people import (
    member_of_project,
    member_to_add,
    sees_members,
    shared_project,
)
from tracker.access.projects import may_own, readable_project
from tracker.actions.people.project_members import (
    remove_project_member,
    set_project_open,
    set_project_role,
)
from tracker.actions.people.roles import IN_PROJECT as ROLES
from tracker.actions.people.roles import role_named
from tracker.errors import InvalidInput, NotFound
from tracker.queries.people.members import addable_members, project_members
from web.request_actor import audit_context
from web.session import PageRequest, signed_in
from web.templatetags.roles import IN_PROJECT, NAMES
from web.toasts import tell


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def project_members_page(
    request: PageRequest, workspace: str, project: str
) -> HttpResponse:
    """List the members of the project; on POST, add one."""
    if request.method != "POST":
        return _page(request, readable_project(request.actor, workspace, project))
    found = shared_project(request.actor, workspace, project)
    name = request.POST.get("who", "")
    try:
        role = role_named(request.POST.get("role", ""))
        member = member_to_add(found, name)
        set_project_role(found, member, role, audit_context(request))
    except NotFound:
        error = InvalidInput("who", gettext("must be a member of this workspace"))
        return _page(request, found, error=error)
    except InvalidInput as error:
        return _page(request, found, error=error)
    return _done(request, found, gettext("%(name)s added."), member)


@require_POST
@signed_in
def set_role(
    request: PageRequest, workspace: str, project: str, member_id: int
) -> HttpResponse:
    found = shared_project(request.actor, workspace, project)
    member = member_of_project(found, member_id)
    role = role_named(request.POST.get("role", ""))
    set_project_role(found, member, role, audit_context(request))
    text = gettext("%(name)s is now %(role)s.")
    return _done(request, found, text, member, role=NAMES[role.value])


@require_POST
@signed_in
def remove(
    request: PageRequest, workspace: str, project: str, member_id: int
) -> HttpResponse:
    found = shared_project(request.actor, workspace, project)
    member = member_of_project(found, member_id)
    remove_project_member(found, member, audit_context(request))
    text = gettext("%(name)s no longer has a role in this project.")
    return _done(request, found, text, member)


@require_POST
@signed_in
def set_access(request: PageRequest, workspace: str, project: str) -> HttpResponse:
    found = shared_project(request.actor, workspace, project)
    is_open = request.POST.get("access") == "open"
    set_project_open(found, audit_context(request), is_open=is_open)
    tell(
        request,
        gettext("The whole workspace can now see the project.")
        if is_open
        else gettext("Only chosen members can now see the project."),
    )
    return HttpResponseRedirect(reverse("project-members", args=[workspace, project]))


# Any: rows of tables, which pages do not import.
def _done(
    request: PageRequest, project: Any, text: str, member: Any, **names: str
) -> HttpResponse:
    tell(request, text % {"name": member.user.display_name, **names})
    if not may_own(request.actor, project):
        # They took away their own role.
        return HttpResponseRedirect(reverse("projects"))
    place = [project.workspace.slug, project.slug]
    return HttpResponseRedirect(reverse("project-members", args=place))


def _page(
    request: PageRequest, project: Any, *, error: InvalidInput | None = None
) -> HttpResponse:
    manages = may_own(request.actor, project)
    sees_all = sees_members(request.actor, project.workspace)
    context = {
        "project": project,
        "tab": "settings",
        "rows": project_members(project),
        "manages": manages,
        # Guests know the people of their projects alone.
        "addable": addable_members(project) if manages and sees_all else [],
        "sees_all": sees_all,
        "roles": [(role.value, NAMES[role.value]) for role in ROLES],
        "sentences": IN_PROJECT.values(),
        "typed": request.POST if error else {"role": "member"},
        "error": error,
    }
    status = 400 if error else 200
    return render(request, "people/project_members.html", context, status=status)
