"""Microsoft Teams: an adaptive card, posted to a workflow's webhook."""

from __future__ import annotations

import json

from tracker.alerts.message import Message
from tracker.alerts.services.service import Service, place_of

COLORS = {"critical": "Attention", "warning": "Warning"}


def body(message: Message) -> bytes:
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [
            _text(
                message.title,
                weight="Bolder",
                size="Medium",
                color=COLORS.get(message.severity, "Default"),
            ),
            _text(message.summary),
            _text(place_of(message), isSubtle=True, size="Small"),
        ],
        "actions": [
            {"type": "Action.OpenUrl", "title": "Open", "url": message.url},
        ],
    }
    attachment = {
        "contentType": "application/vnd.microsoft.card.adaptive",
        "contentUrl": None,
        "content": card,
    }
    return json.dumps({"type": "message", "attachments": [attachment]}).encode()


def _text(text: str, **style: object) -> dict[str, object]:
    # A text run is not parsed as Markdown, which names may contain.
    run = {"type": "TextRun", "text": text, **style}
    return {"type": "RichTextBlock", "inlines": [run]}


TEAMS = Service(
    "teams",
    "Microsoft Teams",
    body,
    "https://support.microsoft.com/en-us/office/create-incoming-webhooks-with-workflows"
    "-for-microsoft-teams-8ae491c7-0394-4861-ba59-055e33f75498",
)
