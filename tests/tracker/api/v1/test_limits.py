import re
from dataclasses import fields
from pathlib import Path

import pytest

from tracker.ingest.limits import LIMITS, MIB

PROTOCOL = Path(__file__).parents[4] / "docs/protocol.md"


@pytest.mark.django_db
@pytest.mark.database
def test_an_agent_may_ask_for_the_limits(writer):
    answer = writer.get("/api/v1/limits").json()

    assert answer["body_bytes"] == 16 * MIB
    assert answer["file_bytes"] == 100 * 1024 * MIB
    of_files = {"file_bytes", "workspace_bytes"}
    assert set(answer) - of_files == {field.name for field in fields(LIMITS)}


@pytest.mark.parametrize("field", fields(LIMITS), ids=lambda field: field.name)
def test_the_protocol_page_says_the_same(field):
    line = re.search(
        rf"\| `{field.name}` \|.*\| ([\d,]+)( MiB)?.*\|", PROTOCOL.read_text()
    )

    assert line is not None
    written = int(line[1].replace(",", "")) * (MIB if line[2] else 1)
    assert written == getattr(LIMITS, field.name)
