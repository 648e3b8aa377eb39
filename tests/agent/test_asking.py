"""What becomes of a question that something else than a tracker answers."""

from __future__ import annotations

import pytest

import agent
from agent.servers import Server
from agent.stored_project import StoredProject
from agent.stored_run import stored_run
from tests.agent.commands.site import TOKEN, Site, as_json

ROW = {"id": "1", "name": "r", "state": "finished", "started_at": None, "tags": []}


@pytest.fixture
def site(monkeypatch):
    site = Site()
    monkeypatch.setenv("SEAMARK_URL", site.url)
    monkeypatch.setenv("SEAMARK_TOKEN", TOKEN)
    yield site
    site.stop()


@pytest.fixture
def run(site):
    project = StoredProject(Server(site.url, TOKEN), "home", "vision")
    return stored_run(project, ROW)


@pytest.mark.parametrize(
    "content",
    [
        *({}, [], None, "text", 7, {"error": "no"}),
        dict.fromkeys(("projects", "attributes", "files", "series", "steps"), 5),
        {"projects": ["x"], "attributes": ["x"], "files": ["x"], "series": ["x"]},
    ],
    ids=str,
)
def test_json_of_something_else_is_told_as_that(site, run, content):
    site.answers["*"] = as_json(content)
    asked = [
        agent.runs,
        lambda: agent.open_run("r"),
        lambda: agent.open_run("00000000-0000-4000-8000-000000000000"),
        *(run.attributes, run.files, run.last_seen_at),
        lambda: run.series("a"),
        lambda: list(run.records("a")),
    ]

    for ask in asked:
        with pytest.raises(agent.CannotRead, match="is not Seamark") as refused:
            ask()
        assert refused.value.code == "no_answer"


def test_an_answer_may_say_more_than_this_agent_knows(site, run):
    picture = {"digest": "ab", "size": 1, "type": "image/png", "new": True}
    columns = {"steps": [1], "times": [0], "values": [picture]}
    site.answers["*"] = as_json({**columns, "next": None})

    ((_, _, found),) = run.records("samples")

    assert (found.digest, found.size, found.type) == ("ab", 1, "image/png")
