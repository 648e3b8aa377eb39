"""Slack: blocks, with a plain text for client notifications."""

from __future__ import annotations

import json

from tracker.alerts.message import Message, subject_of
from tracker.alerts.services.service import Service, place_of

# Slack rejects longer sections.
MAX_SECTION = 2_800


def body(message: Message) -> bytes:
    title = f"*<{message.url}|{_escaped(message.title)}>*"
    section = f"{title}\n{_escaped(message.summary)}"[:MAX_SECTION]
    blocks = [
        {"type": "section", "text": {"type": "mrkdwn", "text": section}},
        {
            "type": "context",
            "elements": [
                {"type": "plain_text", "text": place_of(message)[:MAX_SECTION]}
            ],
        },
    ]
    text = _escaped(subject_of(message))
    return json.dumps({"text": text, "blocks": blocks}).encode()


def _escaped(text: str) -> str:
    """Escape Slack's three control characters, so that names cannot mention a channel."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


SLACK = Service(
    "slack",
    "Slack",
    body,
    "https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks",
)
