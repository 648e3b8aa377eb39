"""The only worker of embedded mode runs the timetable."""

from __future__ import annotations

import threading

from tracker.celery import exit_on_signals
from tracker.server import timetable


class Worker:
    app = None


def started(monkeypatch, settings, redis_url):
    names = []
    settings.REDIS_URL = redis_url
    monkeypatch.setattr(timetable, "_run", lambda _app: None)
    start = threading.Thread.start
    monkeypatch.setattr(
        threading.Thread, "start", lambda self: (names.append(self.name), start(self))
    )
    timetable.start_timetable(Worker())
    return names


def test_runs_without_a_broker_for_several_workers(monkeypatch, settings):
    assert started(monkeypatch, settings, "") == ["timetable"]


def test_leaves_it_to_the_scheduler_of_a_team(monkeypatch, settings):
    assert started(monkeypatch, settings, "redis://localhost") == []


def test_signal_handlers_of_the_worker_stay():
    failures = []

    def run():
        try:
            exit_on_signals()
        except ValueError as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()

    assert failures == []
