"""The form that invites people, and the choices in it."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import QueryDict

from tracker.errors import InvalidInput
from web.texts import gettext_lazy

EXPIRIES = {
    "1": gettext_lazy("1 day"),
    "7": gettext_lazy("7 days"),
    "30": gettext_lazy("30 days"),
}
USUAL_EXPIRY = "7"
ANY_NUMBER = "any"
USES = {
    "1": gettext_lazy("Once"),
    "5": gettext_lazy("5 times"),
    "25": gettext_lazy("25 times"),
    ANY_NUMBER: gettext_lazy("Any number of times"),
}


@dataclass(frozen=True, slots=True)
class InviteForm:
    email: str = ""
    role: str = "member"
    # The project's address; empty: the whole workspace.
    project: str = ""
    days: str = USUAL_EXPIRY
    uses: str = "1"

    @property
    def max_uses(self) -> int | None:
        return None if self.uses == ANY_NUMBER else int(self.uses)


def read_invite_form(data: QueryDict) -> InviteForm:
    form = InviteForm(
        email=data.get("email", "").strip(),
        role=data.get("role", ""),
        project=data.get("project", ""),
        days=data.get("days", USUAL_EXPIRY),
        uses=data.get("uses", "1"),
    )
    for field, value, choices in (
        ("days", form.days, EXPIRIES),
        ("uses", form.uses, USES),
    ):
        if value not in choices:
            raise InvalidInput(field, "must be one of the choices")
    return form
