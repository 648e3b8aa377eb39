"""Mattermost: one message attachment."""

from __future__ import annotations

import json
import re

from tracker.alerts.message import Message, subject_of
from tracker.alerts.services.service import Service, color_of, place_of

MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#+!|~@-])")


def body(message: Message) -> bytes:
    attachment = {
        "fallback": subject_of(message),
        "color": f"#{color_of(message):06x}",
        "title": message.title,
        "title_link": message.url,
        "text": MARKDOWN.sub(r"\\\1", message.summary),
        "footer": place_of(message),
    }
    return json.dumps({"username": "Seamark", "attachments": [attachment]}).encode()


MATTERMOST = Service(
    "mattermost",
    "Mattermost",
    body,
    "https://developers.mattermost.com/integrate/webhooks/incoming/",
)
