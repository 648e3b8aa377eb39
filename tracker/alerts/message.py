"""An alert as mail text and as JSON (pure)."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

# Mail clients truncate longer subjects.
SUBJECT_LENGTH = 150


@dataclass(frozen=True, slots=True)
class Message:
    """`id` is the same for each attempt."""

    id: UUID
    title: str
    summary: str
    severity: str
    project: str
    run: str
    stage: str
    raised_at: datetime
    url: str


def subject_of(message: Message) -> str:
    """Return one line; run names may contain any text."""
    line = f"[{message.project}] {message.run}: {message.title}"
    return " ".join(line.split())[:SUBJECT_LENGTH]


def text_of(message: Message) -> str:
    return (
        f"{message.title}\n\n{message.summary}\n\n"
        f"Run {message.run}, stage {message.stage}, project {message.project}\n"
        f"{message.url}\n"
    )


def json_of(message: Message) -> bytes:
    """Return the body of a webhook; chat systems show `text`."""
    return json.dumps(
        {
            "id": str(message.id),
            "text": f"{subject_of(message)}\n{message.summary}\n{message.url}",
            "severity": message.severity,
            "title": message.title,
            "summary": message.summary,
            "project": message.project,
            "run": message.run,
            "stage": message.stage,
            "raised_at": message.raised_at.isoformat(),
            "url": message.url,
        }
    ).encode()


def signature_of(body: bytes, secret: str) -> str:
    """Return the HMAC-SHA256 of the body, as hexadecimal digits."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
