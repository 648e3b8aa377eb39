"""When two stored runs are the same."""

from __future__ import annotations

from seamark.reading.project import StoredProject
from seamark.reading.run import stored_run
from seamark.servers import Server

ROW = {"id": "1", "name": "r", "state": "running", "started_at": None, "tags": []}


def read(row=ROW, *, url="http://a.test", token="smk_1"):
    return stored_run(StoredProject(Server(url, token), "home", "vision"), row)


def test_a_run_is_the_same_whenever_and_with_whatever_token_it_was_read():
    later = read({**ROW, "state": "finished"}, token="smk_2")

    assert read() == later
    assert {read(): 1}[later] == 1


def test_runs_of_other_servers_and_other_runs_are_others():
    others = [read(url="http://b.test"), read({**ROW, "id": "2"}), "1", None]

    assert all(read() != other for other in others)
    assert len({read(), *others}) == 5
