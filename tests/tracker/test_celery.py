"""Messages through the real brokers; no task is called without a worker."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import pytest
import redis
from kombu import Connection, Consumer, Queue

from tracker import celery, tasks

QUEUE = Queue("celery", durable=True)


def sent_through(connection, message, *, copies=1):
    """Publish a message and receive it like a worker."""
    received = []

    def take(body, taken):
        received.append(body)
        taken.ack()

    producer = connection.Producer(serializer="json")
    for _ in range(copies):
        producer.publish(message, routing_key="celery", declare=[QUEUE])
    with Consumer(connection, queues=[QUEUE], callbacks=[take], accept=["json"]):
        deadline = time.monotonic() + 10
        while len(received) < copies and time.monotonic() < deadline:
            connection.drain_events(timeout=5)
    return received


@pytest.fixture
def folder_connection(settings, tmp_path):
    settings.REDIS_URL = ""
    settings.DATA_FOLDER = tmp_path
    broker = celery.broker()
    with Connection(
        broker["broker_url"],
        transport=broker["broker_transport"],
        transport_options=broker["broker_transport_options"],
    ) as connection:
        yield connection


def test_a_folder_serves_as_queue(folder_connection):
    assert sent_through(folder_connection, {"work": 7}) == [{"work": 7}]


def test_no_half_written_message_is_ever_read(folder_connection, tmp_path):
    message = {"filling": "x" * 100_000}
    stop = threading.Event()
    problems = []

    def look():
        while not stop.is_set():
            for path in (tmp_path / "queue/messages").glob("[!.]*.msg"):
                try:
                    size = path.stat().st_size
                except FileNotFoundError:
                    continue
                if size < len(message["filling"]):
                    problems.append(size)

    thread = threading.Thread(target=look)
    thread.start()
    received = sent_through(folder_connection, message, copies=50)
    stop.set()
    thread.join()

    assert len(received) == 50
    assert problems == []


@pytest.mark.processes
def test_redis_serves_as_queue_where_it_is_set(settings, valkey):
    settings.REDIS_URL = valkey.url
    # Other tests of this process may have left messages there.
    redis.Redis.from_url(valkey.url).flushall()
    broker = celery.broker()

    assert "broker_transport" not in broker
    with Connection(
        broker["broker_url"], transport_options=broker["broker_transport_options"]
    ) as connection:
        assert sent_through(connection, {"work": 7}) == [{"work": 7}]


def test_nothing_but_json_is_accepted():
    assert celery.app.conf.accept_content == ["json"]
    assert celery.app.conf.task_serializer == "json"
    assert celery.app.conf.task_ignore_result


@pytest.mark.parametrize("name", celery.app.conf.beat_schedule)
def test_every_line_of_the_timetable_names_a_task_and_expires(name):
    line = celery.app.conf.beat_schedule[name]
    function = line["task"].rpartition(".")[2]

    assert getattr(tasks, function).name == line["task"]
    assert line["options"]["expires"] <= line["schedule"]


SIGNALED_IN_A_FINALIZER = """
import os, signal
from celery.signals import beat_init
from tracker.celery import app

beat = app.Beat(quiet=True)
service = beat.Service(app=app, scheduler_cls="celery.beat:Scheduler")
beat.install_sync_handler(service)
beat_init.send(sender=service)

class Freed:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)

Freed()
print("still running")
"""


def test_the_scheduler_ends_on_sigterm_during_a_garbage_collection():
    done = subprocess.run(
        [sys.executable, "-c", SIGNALED_IN_A_FINALIZER],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def said_by_a_worker(address: str, *, is_leader: bool) -> list[str]:
    """Return the nice value of a process, and that of its session if there is one."""
    program = (
        "import os, pathlib; from tracker import celery; celery.stand_back();"
        " print(os.nice(0)); group = pathlib.Path('/proc/self/autogroup');"
        " print(group.read_text() if group.exists() else '')"
    )
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "SEAMARK_DATABASE_URL": address},
        start_new_session=is_leader,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()


def test_on_sqlite_the_worker_has_the_priority_of_the_server(tmp_path):
    output = said_by_a_worker(f"sqlite:///{tmp_path / 'db'}", is_leader=True)

    assert int(output[0]) == os.nice(0)
    assert not output[1] or output[1].endswith("nice 0")


@pytest.mark.parametrize("is_leader", [True, False])
def test_a_worker_stands_back_for_web_servers_on_the_same_machine(is_leader):
    output = said_by_a_worker("postgresql://nobody@127.0.0.1/none", is_leader=is_leader)

    assert int(output[0]) == min(19, os.nice(0) + celery.STANDS_BACK_BY)
    # Other processes of the session are not changed.
    if output[1] and is_leader:
        assert output[1].endswith(f"nice {celery.STANDS_BACK_BY}")
    elif output[1]:
        assert not output[1].endswith(f"nice {celery.STANDS_BACK_BY}")
