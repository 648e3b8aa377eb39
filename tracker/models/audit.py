"""The audit log: user, action, time and address. Rows are only added."""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.db import models

from tracker.models.workspace import Workspace


class AuditEntry(models.Model):
    # None: the sign-in page, a command on the server, or a deleted workspace.
    workspace = models.ForeignKey(
        Workspace, models.SET_NULL, null=True, related_name="audit_entries"
    )
    at = models.DateTimeField(auto_now_add=True)
    # The user and their name at that time: the account may be deleted later.
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        related_name="+",
        db_index=False,
    )
    actor = models.CharField(max_length=200)
    # The client's address; empty for commands.
    address = models.CharField(max_length=64, default="")
    # "member.role-changed", "sign-in.failed", …; tracker/audit.py lists them.
    action = models.CharField(max_length=60)
    # The object of the action, as text.
    target = models.CharField(max_length=400, default="")
    details = models.JSONField(default=dict)

    class Meta:
        indexes: ClassVar = [
            models.Index(fields=["workspace", "-at"], name="audit_newest"),
            models.Index(fields=["at"], name="audit_oldest"),
        ]

    def __str__(self) -> str:
        return f"{self.actor}: {self.action} {self.target}"
