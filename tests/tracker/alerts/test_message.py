from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from tracker.alerts.message import (
    SUBJECT_LENGTH,
    Message,
    json_of,
    signature_of,
    subject_of,
    text_of,
)

MESSAGE = Message(
    id=UUID(int=1),
    title="Training waits for data",
    summary="60 % of the time goes into waiting.",
    severity="critical",
    project="vision",
    run="resnet",
    stage="train",
    raised_at=datetime(2026, 1, 2, tzinfo=UTC),
    url="https://seamark.example.com/runs/1/",
)


def test_a_subject_is_one_line_whatever_a_run_is_called():
    hostile = replace(MESSAGE, run="a\r\nBcc: all@example.com" + "x" * 500)

    subject = subject_of(hostile)

    assert "\n" not in subject
    assert "\r" not in subject
    assert len(subject) <= SUBJECT_LENGTH


def test_templates_in_names_are_printed_as_they_are():
    hostile = replace(MESSAGE, run="{0.__class__} {{7*7}} %s%n")

    assert "{0.__class__} {{7*7}} %s%n" in text_of(hostile)
    assert "{0.__class__} {{7*7}} %s%n" in json.loads(json_of(hostile))["text"]


def test_a_signature_depends_on_body_and_secret():
    assert signature_of(b"a", "s") != signature_of(b"b", "s")
    assert signature_of(b"a", "s") != signature_of(b"a", "t")
