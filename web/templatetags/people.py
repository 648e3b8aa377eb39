"""The avatar of a user, and the menu of the signed-in user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import template
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from tracker.actor import Actor
from tracker.queries.projects.members import Membership, memberships
from web.texts import gettext_lazy

register = template.Library()

COLORS = 10


@dataclass(frozen=True, slots=True)
class Entry:
    """A link of the menu, which is left out while no page has the name."""

    page: str
    label: str
    icon: str
    # Roles that see it; empty: all.
    roles: tuple[str, ...] = ()


MANAGERS = ("owner", "admin")
OF_WORKSPACE = (
    Entry(
        "members",
        gettext_lazy("Members"),
        "users",
        (*MANAGERS, "member", "viewer"),
    ),
    Entry("workspace-keys", gettext_lazy("All API keys"), "key-round", MANAGERS),
    Entry("audit", gettext_lazy("Audit log"), "scroll-text", MANAGERS),
    Entry("workspace-settings", gettext_lazy("Settings"), "settings", MANAGERS),
)
OF_ACCOUNT = (
    Entry("account", gettext_lazy("Profile"), "user"),
    Entry("security", gettext_lazy("Security"), "shield"),
    Entry("sessions", gettext_lazy("Sessions"), "monitor"),
    Entry("keys", gettext_lazy("API keys"), "key-round"),
    Entry("inbox", gettext_lazy("Inbox"), "bell"),
    Entry("notifications", gettext_lazy("Notifications"), "send"),
)


# Any: a user, or a row of a query that has these attributes.
@register.simple_tag
def avatar(user: Any, extra_class: str = "") -> SafeString:
    """Return the initials in the user's color; a text next to it has the name.

    `user` has `id` and `initials`; None is an account that was deleted.
    """
    classes, initials = _avatar(user)
    return format_html(
        '<span class="avatar {} {}" aria-hidden="true">{}</span>',
        classes,
        extra_class,
        initials,
    )


# Any: as above.
def avatar_of(user: Any) -> dict[str, str]:
    """Return the data from which scripts draw an avatar."""
    classes, initials = _avatar(user)
    return {"name": user.display_name, "classes": classes, "initials": initials}


def _avatar(user: Any) -> tuple[str, str]:
    if user is None:
        return "avatar--none", "?"
    kind = " avatar--service" if getattr(user, "is_service", False) else ""
    return f"avatar--{user.id % COLORS}{kind}", user.initials


# Any: a template's context.
@register.inclusion_tag("people/_account_menu.html", takes_context=True)
def account_menu(context: dict[str, Any]) -> dict[str, Any]:
    request: HttpRequest = context["request"]
    all_of_them = memberships(Actor(request.user.pk or 0))
    current = _current(context, request, all_of_them)
    return {
        "request": request,
        "user": context["user"],
        "csrf_token": context.get("csrf_token"),
        "current": current,
        "workspaces": [
            (each, _address("workspace", each.slug)) for each in all_of_them
        ],
        "of_workspace": _links(OF_WORKSPACE, current.role, current.slug)
        if current
        else [],
        "of_account": _links(OF_ACCOUNT, ""),
    }


def _current(
    context: dict[str, Any], request: HttpRequest, all_of_them: list[Membership]
) -> Membership | None:
    """Return the membership in the workspace of the page, or else the first."""
    match = request.resolver_match
    slug = match.kwargs.get("workspace", "") if match else ""
    project = context.get("project")
    if not slug and project is not None and hasattr(project, "workspace"):
        slug = project.workspace.slug
    of_page = [each for each in all_of_them if each.slug == slug]
    return next(iter([*of_page, *all_of_them]), None)


def _links(
    entries: tuple[Entry, ...], role: str, *arguments: str
) -> list[tuple[Entry, str]]:
    seen = [each for each in entries if not each.roles or role in each.roles]
    links = [(each, _address(each.page, *arguments)) for each in seen]
    return [(each, address) for each, address in links if address]


def _address(name: str, *arguments: str) -> str:
    try:
        return reverse(name, args=arguments)
    except NoReverseMatch:
        return ""
