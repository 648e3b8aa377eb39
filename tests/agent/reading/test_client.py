"""Requests to a busy server, and to servers that are not Seamark."""

from __future__ import annotations

import pytest

import agent
from seamark.reading import client
from seamark.reading.project import StoredProject
from seamark.reading.run import stored_run
from seamark.servers import Server
from tests.agent.commands.site import TOKEN, Site, as_json

BUSY = {"error": {"code": "unavailable", "message": "Too busy."}}
ROW = {"id": "1", "name": "r", "state": "finished", "started_at": None, "tags": []}


class Clock:
    """Time that passes only in sleep()."""

    def __init__(self):
        self.now = 0.0
        self.pauses = []

    def time(self):
        return self.now

    monotonic = time

    def sleep(self, seconds):
        self.now += seconds
        self.pauses.append(seconds)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(client, "time", clock)
    return clock


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


def busy(pause):
    status, headers, body = as_json(BUSY, 503)
    return status, headers | ({"Retry-After": pause} if pause else {}), body


def test_a_busy_server_is_asked_again_after_as_long_as_it_says(site, run, clock):
    script = [busy("3"), busy(""), as_json({"last_seen_at": "now"})]
    site.answer = lambda _: script.pop(0)

    assert run.last_seen_at() == "now"
    assert clock.pauses == [3.0, 2.0]


def test_each_page_of_an_answer_is_asked_again(site, run, clock):
    script = [
        *(busy("1"), as_json({"files": [], "next": "a"})),
        *(busy("1"), as_json({"files": [], "next": ""})),
    ]
    site.answer = lambda _: script.pop(0)

    assert run.files() == []
    assert script == []


def test_a_server_that_stays_busy_is_asked_for_a_minute(site, run, clock):
    site.answers["*"] = busy("7")

    with pytest.raises(agent.CannotRead) as refused:
        run.last_seen_at()

    assert (refused.value.code, refused.value.retry_after) == ("unavailable", 7.0)
    assert 50 < clock.now <= 60


@pytest.mark.parametrize(
    "answer",
    [busy("3600"), as_json({"error": {"code": "not_found", "message": "No."}}, 404)],
    ids=["too long", "no"],
)
def test_what_no_patience_helps_against_is_asked_once(site, run, clock, answer):
    site.answers["*"] = answer

    with pytest.raises(agent.CannotRead):
        run.last_seen_at()

    assert len(site.asked) == 1


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
