"""Discord: one embed, without mentions."""

from __future__ import annotations

import json
import re

from tracker.alerts.message import Message
from tracker.alerts.services.service import Service, color_of, place_of

# Discord rejects longer ones.
MAX_TITLE, MAX_DESCRIPTION, MAX_FOOTER = 256, 4_000, 2_000
MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#+!|~-])")


def body(message: Message) -> bytes:
    embed = {
        "title": MARKDOWN.sub(r"\\\1", message.title)[:MAX_TITLE],
        "url": message.url,
        "description": MARKDOWN.sub(r"\\\1", message.summary)[:MAX_DESCRIPTION],
        "color": color_of(message),
        "footer": {"text": place_of(message)[:MAX_FOOTER]},
        "timestamp": message.raised_at.isoformat(),
    }
    return json.dumps(
        {
            "username": "Seamark",
            "embeds": [embed],
            "allowed_mentions": {"parse": []},
        }
    ).encode()


DISCORD = Service(
    "discord",
    "Discord",
    body,
    "https://support.discord.com/hc/en-us/articles/228383668",
)
