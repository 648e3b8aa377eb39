"""The user and client address of a change, for the audit log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tracker.actions.people.audit import Action, note
from tracker.models import User, Workspace


@dataclass(frozen=True, slots=True)
class AuditContext:
    # A user; None: a command on the server.
    user_id: int | None = None
    address: str = ""

    @property
    def name(self) -> str:
        if self.user_id is None:
            return ""
        user = User.objects.filter(id=self.user_id).first()
        return "" if user is None else user.display_name

    # Any: JSON.
    def note(
        self, action: Action, target: object, workspace: Workspace, **details: Any
    ) -> None:
        note(
            action,
            target,
            workspace=workspace,
            by=self.user_id,
            address=self.address,
            **details,
        )


COMMAND = AuditContext()
