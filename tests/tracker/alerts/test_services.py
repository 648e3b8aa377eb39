from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.tracker.alerts.receivers import web_server
from tests.tracker.alerts.test_message import MESSAGE
from tracker.alerts.services import SERVICES
from tracker.alerts.webhook import post

LOUD = replace(
    MESSAGE, title="<!channel> @everyone **bold**", summary="[x](https://evil.example)"
)


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_gets_the_title_the_summary_and_the_link(name):
    with web_server() as receiver:
        body = SERVICES[name].body(MESSAGE)
        post(receiver.url, "secret", MESSAGE, ["127.0.0.1"], body=body)

    text = json.dumps(json.loads(receiver.got[0][1]), ensure_ascii=False)
    assert MESSAGE.title in text
    assert MESSAGE.url in text


def test_names_of_runs_are_escaped_in_messages():
    slack = json.loads(SERVICES["slack"].body(LOUD))
    discord = json.loads(SERVICES["discord"].body(LOUD))
    mattermost = json.loads(SERVICES["mattermost"].body(LOUD))

    assert "<!channel>" not in json.dumps(slack)
    assert discord["allowed_mentions"] == {"parse": []}
    assert discord["embeds"][0]["description"].startswith(r"\[x\]\(")
    assert mattermost["attachments"][0]["text"].startswith(r"\[x\]\(")


def test_teams_gets_an_adaptive_card():
    (attachment,) = json.loads(SERVICES["teams"].body(LOUD))["attachments"]

    assert attachment["content"]["type"] == "AdaptiveCard"
    assert attachment["content"]["body"][0]["type"] == "RichTextBlock"
