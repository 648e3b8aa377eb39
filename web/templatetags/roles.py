"""The names and permissions of roles."""

from __future__ import annotations

from django import template

from web.texts import gettext_lazy

register = template.Library()

NAMES = {
    "owner": gettext_lazy("owner"),
    "admin": gettext_lazy("admin"),
    "member": gettext_lazy("member"),
    "viewer": gettext_lazy("viewer"),
    "guest": gettext_lazy("guest"),
}
SENTENCES = {
    "owner": gettext_lazy("Owners can do everything, and add owners."),
    "admin": gettext_lazy("Admins manage members, projects and API keys."),
    "member": gettext_lazy("Members log runs, and edit runs, reports and dashboards."),
    "viewer": gettext_lazy("Viewers read and comment."),
    "guest": gettext_lazy("Guests see only the projects they were added to."),
}
IN_PROJECT = {
    "admin": gettext_lazy("Admins also manage the project's members and data."),
    "member": SENTENCES["member"],
    "viewer": SENTENCES["viewer"],
}


@register.simple_tag
def role_name(role: str) -> str:
    return NAMES.get(role, role)


@register.simple_tag
def role_sentence(role: str) -> str:
    return SENTENCES.get(role, "")
