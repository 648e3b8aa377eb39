"""Every setting is documented, and every documented setting exists."""

from __future__ import annotations

import re
from pathlib import Path

from tracker import settings

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTED = set(
    re.findall(
        r"^\| `(SEAMARK_\w+)`", (ROOT / "docs/configuration.md").read_text(), re.M
    )
)
# Read by Compose and by the tests, not by the server or the agent.
ELSEWHERE = {
    "SEAMARK_DATABASE_PASSWORD",
    "SEAMARK_PUBLISH",
}


def names_in(folder):
    text = "".join(path.read_text() for path in (ROOT / folder).rglob("*.py"))
    return set(re.findall(r"SEAMARK_[A-Z_]+[A-Z]", text))


def test_every_setting_is_documented_and_nothing_else():
    server = {name for name in settings.known_names if not name.endswith("_FILE")}

    assert server | settings.AGENT_NAMES | ELSEWHERE == DOCUMENTED


def test_settings_know_every_variable_of_the_agent():
    assert names_in("agent") <= settings.AGENT_NAMES | settings.known_names


def test_nothing_else_of_the_server_reads_the_environment():
    readers = {
        str(path.relative_to(ROOT))
        for folder in ("tracker", "web")
        for path in (ROOT / folder).rglob("*.py")
        if re.search(r"os\.environ\b(?!\.setdefault)|os\.getenv", path.read_text())
    }

    # Three give the processes they start a copy with more settings in it.
    assert readers == {
        "tracker/settings.py",
        "tracker/embedded/server.py",
        "tracker/management/commands/demo.py",
        "web/management/commands/texts.py",
    }
