"""Queued mail to one person."""

from __future__ import annotations

from typing import ClassVar

from django.db import models


class Mail(models.Model):
    """Kept for a while after it was sent or given up."""

    to = models.EmailField()
    subject = models.CharField(max_length=300)
    text = models.TextField()
    html = models.TextField(default="")
    created_at = models.DateTimeField(auto_now_add=True)
    # When to send it next; empty once it was sent or given up.
    due_at = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    attempts = models.PositiveIntegerField(default=0)
    last_error = models.TextField(default="")

    class Meta:
        indexes: ClassVar = [
            models.Index(
                fields=["due_at"],
                condition=models.Q(due_at__isnull=False),
                name="mail_due",
            )
        ]

    def __str__(self) -> str:
        return f"{self.subject} to {self.to}"
