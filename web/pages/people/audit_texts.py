"""Names of the audit log's actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext

from tracker.actions.people.audit import Action
from web.texts import gettext_lazy

ACTIONS: dict[str, str] = {
    Action.SIGNED_IN: gettext_lazy("Signed in"),
    Action.SIGN_IN_FAILED: gettext_lazy("Sign-in failed"),
    Action.SIGNED_OUT: gettext_lazy("Signed out"),
    Action.SESSIONS_ENDED: gettext_lazy("Sessions ended"),
    Action.RESET_LINK_MADE: gettext_lazy("Password link created"),
    Action.PASSWORD_CHANGED: gettext_lazy("Password changed"),
    Action.SECOND_FACTOR_CHANGED: gettext_lazy("Second factor changed"),
    Action.ACCOUNT_CREATED: gettext_lazy("Account created"),
    Action.ACCOUNT_CHANGED: gettext_lazy("Account changed"),
    Action.INVITED: gettext_lazy("Invitation created"),
    Action.INVITATION_REVOKED: gettext_lazy("Invitation revoked"),
    Action.INVITATION_ACCEPTED: gettext_lazy("Invitation accepted"),
    Action.ROLE_CHANGED: gettext_lazy("Role changed"),
    Action.MEMBER_ADDED: gettext_lazy("Member added"),
    Action.MEMBER_DEACTIVATED: gettext_lazy("Member deactivated"),
    Action.MEMBER_REACTIVATED: gettext_lazy("Member reactivated"),
    Action.MEMBER_REMOVED: gettext_lazy("Member removed"),
    Action.KEY_CREATED: gettext_lazy("API key created"),
    Action.KEY_REVOKED: gettext_lazy("API key revoked"),
    Action.SERVICE_ACCOUNT_CREATED: gettext_lazy("Service account created"),
    Action.SERVICE_ACCOUNT_DELETED: gettext_lazy("Service account deleted"),
    Action.SHARED: gettext_lazy("Share link created"),
    Action.SHARE_REVOKED: gettext_lazy("Share link revoked"),
    Action.EXPORTED: gettext_lazy("Data exported"),
    Action.RUN_DELETED: gettext_lazy("Run deleted"),
    Action.RUN_REOPENED: gettext_lazy("Run reopened"),
    Action.RUNS_MOVED: gettext_lazy("Runs moved"),
    Action.PROJECT_CREATED: gettext_lazy("Project created"),
    Action.PROJECT_CHANGED: gettext_lazy("Project settings changed"),
    Action.PROJECT_ARCHIVED: gettext_lazy("Project archived"),
    Action.PROJECT_RESTORED: gettext_lazy("Project restored"),
    Action.PROJECT_DELETED: gettext_lazy("Project deleted"),
    Action.CHANNEL_ADDED: gettext_lazy("Alert channel added"),
    Action.CHANNEL_REMOVED: gettext_lazy("Alert channel removed"),
    Action.METRIC_RULE_CREATED: gettext_lazy("Metric rule created"),
    Action.METRIC_RULE_CHANGED: gettext_lazy("Metric rule changed"),
    Action.METRIC_RULE_DELETED: gettext_lazy("Metric rule deleted"),
    Action.WORKSPACE_CREATED: gettext_lazy("Workspace created"),
    Action.WORKSPACE_CHANGED: gettext_lazy("Workspace settings changed"),
    Action.WORKSPACE_DELETED: gettext_lazy("Workspace deleted"),
}
# The names of details that read badly as stored.
DETAILS: dict[str, str] = {
    "days": gettext_lazy("days valid"),
    "max_uses": gettext_lazy("uses"),
    "expires_at": gettext_lazy("expires"),
    "is_open": gettext_lazy("open to the workspace"),
    "before": gettext_lazy("from"),
    "after": gettext_lazy("to"),
}
# Identifiers, which only programs read; the CSV has them.
NOT_SHOWN = ("invited_by",)


# Any: JSON.
def detail_texts(details: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the name and the value of each detail as the page shows them."""
    return [
        (str(DETAILS.get(name, name.replace("_", " "))), _text(value))
        for name, value in details.items()
        if name not in NOT_SHOWN and value not in (None, "", [], {})
    ]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {each}" for name, each in detail_texts(value))
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return str(value)
