"""The web server ends idle threads, and their connections, without harm."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.client import OK
from urllib.request import urlopen

import pytest

from benchmarks.kills.installation import Installation, eventually
from tracker.server import processes

CLIENTS = 16
IDLE_SECONDS = 5  # the least that granian accepts


@pytest.mark.processes
@pytest.mark.timeout(300)
def test_a_web_process_outlives_its_idle_threads_and_their_connections(
    tmp_path, database, monkeypatch
):
    monkeypatch.setattr(processes, "IDLE_THREAD_SECONDS", IDLE_SECONDS)
    with Installation(tmp_path, database_url=database.url, web_servers=1) as tracker:
        ready = f"http://127.0.0.1:{tracker.addresses[0].port}/readyz"
        ask = partial(status_of, ready)
        with ThreadPoolExecutor(CLIENTS) as clients:
            statuses = set(clients.map(lambda _: ask(), range(10 * CLIENTS)))
        web, *_ = tracker.webs[0].members()[-1:]
        busy = web.num_threads()

        eventually(lambda: web.num_threads() <= busy - CLIENTS // 2, "threads end")

        assert statuses == {OK}
        assert ask() == OK
        assert web.is_running()
        assert tracker.logged("Unexpected exit") == 0


def status_of(url):
    with urlopen(url, timeout=60) as answer:
        return answer.status
