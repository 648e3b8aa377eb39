"""The form that makes an API key, and the choices in it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.http import QueryDict

from tracker.actions.people.keys import KeyRequest
from tracker.actor import Scope
from tracker.errors import InvalidInput
from web.texts import gettext_lazy

SCOPES = {
    Scope.LOG: (gettext_lazy("Log"), gettext_lazy("Log runs. No read access.")),
    Scope.READ: (
        gettext_lazy("Read"),
        gettext_lazy("View everything the owner can see."),
    ),
    Scope.MANAGE: (
        gettext_lazy("Manage"),
        gettext_lazy("Log, view and change everything the owner can."),
    ),
}
LIFETIME_DAYS = {
    "30": gettext_lazy("30 days"),
    "90": gettext_lazy("90 days"),
    "365": gettext_lazy("1 year"),
    "": gettext_lazy("Never"),
}
USUAL_LIFETIME = "365"


@dataclass(frozen=True, slots=True)
class KeyForm:
    """The submitted values, which stay if the form is rejected."""

    name: str = ""
    scope: str = Scope.LOG.value
    days: str = USUAL_LIFETIME
    is_bound: bool = False
    projects: tuple[str, ...] = ()

    def request(self, now: datetime) -> KeyRequest:
        if self.scope not in SCOPES:
            raise InvalidInput("scope", "must be one of the choices")
        if self.days not in LIFETIME_DAYS:
            raise InvalidInput("expiry", "must be one of the choices")
        return KeyRequest(
            name=self.name,
            scope=Scope(self.scope),
            expires_at=now + timedelta(days=int(self.days)) if self.days else None,
            projects=self.projects if self.is_bound else None,
        )


def read_key_form(data: QueryDict) -> KeyForm:
    return KeyForm(
        name=data.get("name", "").strip(),
        scope=data.get("scope", ""),
        days=data.get("days", ""),
        is_bound=data.get("access") == "projects",
        projects=tuple(data.getlist("projects")),
    )
