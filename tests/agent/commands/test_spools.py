"""`seamark sync` and `status`: pending and delivered data, and machine-readable output."""

from __future__ import annotations

import errno
import json

import pytest

import agent
from seamark import messages
from seamark.commands import main
from seamark.queue import locks, own_files
from seamark.queue.ring import create_ring
from seamark.queue.spool import create_spool
from seamark.servers import Server, store_server
from tests.agent.conftest import wait_until
from tests.agent.failing_disk import FailingDisk
from tests.agent.queue.test_spool import ORIGIN
from tests.agent.tracker_double import TOKEN, Scripted, TrackerDouble
from tests.agent.upload.test_orphans import say_of

LOG = "import agent; run = agent.init('r\\x1b[2J', monitor=False); run['a'].append(1.0)"
UPLOAD = "import agent; agent.init('r', monitor=False)['f'].upload(b'content')"


@pytest.fixture
def left(run_script):
    """Leave a spool behind."""
    run_script(LOG, SEAMARK_MODE="offline")


def said(capsys):
    return json.loads(capsys.readouterr().out)


def test_what_waits_is_told_to_programs(left, spool_root, capsys):
    assert main(["status", "--json"]) == 0

    found = said(capsys)
    (spool,) = found["spools"]
    assert found["folder"] == str(spool_root)
    assert (spool["run"], spool["is_in_use"]) == ("r\x1b[2J", False)
    assert spool["pending_bytes"] > 0
    assert spool["seconds_since_written"] >= 0


def test_a_name_does_nothing_to_the_terminal(left, capsys):
    main(["status"])

    assert "run 'r\\x1b[2J'" in capsys.readouterr().out


def test_it_is_said_at_once_that_something_waits(left, capsys):
    main([])

    assert "1 queue of ended processes not delivered" in capsys.readouterr().out


def test_what_is_delivered_is_told_to_programs(left, tracker, capsys):
    assert main(["sync", "--json"]) == 0

    assert said(capsys)["left"] == []
    assert tracker.values("a") == [1.0]


def test_what_is_not_delivered_is_told_with_the_reason(left, tracker, capsys):
    tracker.token = "smk_another"

    assert main(["sync", "--json"]) == 1

    (spool,) = said(capsys)["left"]
    assert "seamark doctor" in spool["reason"]


def test_an_end_that_the_server_does_not_take_is_told_apart(
    spool_root, tracker, capsys
):
    killed = create_spool(spool_root, ORIGIN, url=None)
    killed.close()
    tracker.gone_script.append(Scripted(403))

    assert main(["sync", "--json", "--any-host"]) == 1

    (spool,) = said(capsys)["left"]
    assert (
        "did not accept the end of its process, but all other data" in spool["reason"]
    )
    assert main(["sync", "--json", "--any-host"]) == 0
    assert tracker.gone


def test_what_a_process_may_have_in_memory_is_told_apart(
    spool_root, tmp_path, tracker, capsys
):
    living = create_spool(tmp_path / "elsewhere", ORIGIN, url=None)
    ring = create_ring(living.folder)
    # As in another container, or with a process that still logs.
    spool_root.mkdir(parents=True)
    living.folder.rename(spool_root / living.folder.name)
    living.close()

    assert main(["sync", "--json", "--any-host"]) == 1

    (spool,) = said(capsys)["left"]
    assert "a process has its points in memory" in spool["reason"]
    assert tracker.frames == {}
    ring.close()
    assert main(["sync", "--json", "--any-host"]) == 0
    assert living.folder.name in tracker.frames


def test_without_a_server_nothing_can_be_delivered(left, capsys):
    assert main(["sync", "--json"]) == 1

    assert said(capsys)["error"]["code"] == "no_server"


def ids(root):
    return sorted(path.parent.name for path in root.glob("*/spool.json"))


def test_what_nobody_wants_is_deleted_for_good(left, spool_root, tracker, capsys):
    (spool,) = ids(spool_root)

    assert main(["sync", "--discard", spool, "--yes", "--json"]) == 0

    assert said(capsys)["discarded"] == [spool]
    assert ids(spool_root) == []
    assert main(["sync"]) == 0
    assert tracker.values("a") == []


@pytest.mark.parametrize("answer", ["n", "", "y"])
def test_it_is_asked_before(left, spool_root, capsys, monkeypatch, answer):
    (spool,) = ids(spool_root)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda _: answer)

    code = main(["sync", "--discard", spool])

    assert (code, ids(spool_root)) == ((0, []) if answer == "y" else (1, [spool]))
    assert "of run 'r" in capsys.readouterr().out


def test_who_answers_nothing_wants_nothing_deleted(
    left, spool_root, capsys, monkeypatch
):
    (spool,) = ids(spool_root)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)

    def ended(_):
        raise EOFError

    monkeypatch.setattr("builtins.input", ended)

    assert main(["sync", "--discard", spool]) == 1
    assert ids(spool_root) == [spool]
    assert "Nothing was deleted" in capsys.readouterr().out


def test_without_a_terminal_it_is_not_guessed(left, spool_root, capsys):
    (spool,) = ids(spool_root)

    assert main(["sync", "--discard", spool, "--json"]) == 2

    assert said(capsys)["error"]["code"] == "not_agreed"
    assert ids(spool_root) == [spool]


def test_what_a_process_uses_or_nobody_knows_is_not_deleted(spool_root, capsys):
    with agent.init("r", monitor=False, mode="offline") as run:
        run["a"].append(1.0)
        (spool,) = ids(spool_root)
        assert main(["sync", "--discard", spool, "--yes", "--json"]) == 1
        assert said(capsys)["error"]["code"] == "in_use"
    assert main(["sync", "--discard", "..", "--yes", "--json"]) == 1
    assert said(capsys)["error"]["code"] == "no_spool"
    assert ids(spool_root) == [spool]


def test_what_another_machine_wrote_is_told_and_can_be_delivered(
    spool_root, tracker, capsys
):
    opened = create_spool(spool_root, ORIGIN, url=None)
    opened.write(messages.payload([messages.points(["a"], [0.0], [0], [[1.0]])]))
    opened.close()
    say_of(opened.folder)

    assert main(["sync", "--json"]) == 1
    (spool,) = said(capsys)["left"]
    assert "node-7" in spool["reason"]
    assert "--any-host" in spool["reason"]

    assert main(["sync", "--any-host", "--json"]) == 0
    assert tracker.values("a") == [1.0]


@pytest.mark.parametrize("command", ["status", "sync"])
@pytest.mark.parametrize("name", ["typing-error", "file"])
@pytest.mark.usefixtures("left", "tracker")
def test_a_folder_that_cannot_be_looked_into_is_refused(
    tmp_path, capsys, command, name
):
    (tmp_path / "file").touch()

    assert main([command, "--spool", str(tmp_path / name), "--json"]) == 1

    error = said(capsys)["error"]
    assert error["code"] == "no_folder"
    assert str(tmp_path / name) in error["message"]


@pytest.mark.parametrize("command", ["status", "sync"])
def test_of_who_never_logged_nothing_waits(tracker, spool_root, capsys, command):
    assert main([command]) == 0
    assert "All data is delivered" in capsys.readouterr().out

    spool_root.parent.mkdir(parents=True, exist_ok=True)
    spool_root.touch()

    assert main([command, "--json"]) == 1
    assert said(capsys)["error"]["code"] == "no_folder"


def test_what_cannot_be_locked_is_left_with_the_reason(
    left, spool_root, tracker, capsys
):
    (lock,) = spool_root.glob("*/lock")
    lock.unlink()
    # Like on a read-only disk: the lock exists and cannot be acquired.
    lock.mkdir()

    assert main(["sync", "--json"]) == 1
    (spool,) = said(capsys)["left"]
    assert "cannot be locked: Is a directory" in spool["reason"]
    assert tracker.values("a") == []

    main(["status", "--json"])
    assert said(capsys)["spools"][0]["is_in_use"] is False

    assert main(["sync", "--discard", spool["id"], "--yes", "--json"]) == 1
    assert said(capsys)["error"]["code"] == "cannot_delete"
    assert ids(spool_root) == [spool["id"]]


def test_a_server_that_is_busy_for_a_moment_is_waited_for(left, tracker):
    tracker.script.append(Scripted(503, headers={"Retry-After": "1"}))
    assert main(["sync"]) == 0
    assert tracker.values("a") == [1.0]


def test_a_server_that_is_always_busy_is_given_up(left, tracker, capsys, monkeypatch):
    monkeypatch.setattr("seamark.commands.sync._PATIENCE_SECONDS", 2.0)
    busy = Scripted(429, b'{"error": {"code": "busy"}}')
    tracker.script.extend([busy] * 100)

    assert main(["sync", "--json"]) == 1

    (spool,) = said(capsys)["left"]
    assert "cannot accept data now (429 busy)" in spool["reason"]


def test_a_server_that_asks_for_an_hour_is_not_waited_for(left, tracker, perform):
    tracker.script.append(Scripted(503, headers={"Retry-After": "3600"}))

    code, output, _ = perform("sync", "--json")

    (spool,) = json.loads(output)["left"]
    assert (code, len(tracker.requests)) == (1, 1)
    assert "cannot accept data now (503)" in spool["reason"]


def test_a_server_that_takes_no_files_now_is_not_waited_for(
    run_script, tracker, perform
):
    run_script(UPLOAD, SEAMARK_MODE="offline")
    tracker.part_script.append(Scripted(503, headers={"Retry-After": "3600"}))

    code, output, _ = perform("sync", "--json")

    (spool,) = json.loads(output)["left"]
    assert code == 1
    assert "cannot accept files now (503)" in spool["reason"]


def test_what_a_living_process_holds_is_not_called_delivered(tracker, capsys):
    with agent.init("r", monitor=False, mode="offline") as run:
        run["a"].append(1.0)
        run.wait_until_written(5)

        assert main(["sync", "--json"]) == 0
        found = said(capsys)
        assert main(["sync"]) == 0
        output = capsys.readouterr().out

    (spool,) = found["in_use"]
    assert (spool["run"], spool["pending_bytes"] > 0) == ("r", True)
    assert "is in use" in output
    assert "All data is delivered" not in output


@pytest.mark.usefixtures("left")
def test_a_spool_that_its_disk_does_not_give_back_is_named(
    spool_root, tracker, capsys, caplog, monkeypatch
):
    (segment,) = spool_root.glob("*/*.frames")
    disk = FailingDisk(segment, errno.EIO, fails_reading=True)
    disk.is_broken = True
    monkeypatch.setattr(own_files, "os", disk)

    assert main(["sync", "--json"]) == 1
    (spool,) = said(capsys)["left"]
    assert (
        f"cannot be read now ([Errno 5] Input/output error: '{segment}'"
        in (spool["reason"])
    )
    assert caplog.text.count("cannot be read now") == 1

    disk.is_broken = False
    assert main(["sync"]) == 0
    assert tracker.values("a") == [1.0]


@pytest.mark.parametrize(
    "answer",
    [Scripted(502), Scripted(200, b"<html>"), Scripted(0, cuts=True)],
    ids=lambda answer: str(answer.status),
)
def test_a_server_that_is_away_for_a_moment_is_waited_for(left, tracker, answer):
    tracker.script.append(answer)

    assert main(["sync"]) == 0

    assert tracker.values("a") == [1.0]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Scripted(502), "cannot accept data now (502)"),
        (Scripted(0, cuts=True), "does not respond"),
        (Scripted(200, b'{"stored": 0}'), "accepts data but stores none of it"),
        (Scripted(409, b'{"error": {"expected": 1}}'), "requests the same data again"),
    ],
    ids=lambda value: str(value.status) if isinstance(value, Scripted) else None,
)
@pytest.mark.usefixtures("left")
def test_a_server_that_takes_nothing_is_given_up(
    tracker, capsys, monkeypatch, answer, words
):
    monkeypatch.setattr("seamark.commands.sync._PATIENCE_SECONDS", 1.0)
    tracker.script.extend([answer] * 8)

    assert main(["sync", "--json"]) == 1

    (spool,) = said(capsys)["left"]
    assert words in spool["reason"]


def test_a_server_that_takes_no_part_of_a_file_is_given_up(
    run_script, tracker, monkeypatch
):
    monkeypatch.setattr("seamark.commands.sync._PATIENCE_SECONDS", 2.0)
    run_script(UPLOAD, SEAMARK_MODE="offline")
    # The server reports the received size at each request.
    tracker.part_script.extend([Scripted(200, b'{"received": 0}'), Scripted(408)] * 15)

    assert main(["sync"]) == 1

    assert tracker.part_script


def test_an_address_that_is_put_right_is_used_by_who_follows(
    left, spool_root, start, agent_file
):
    double = TrackerDouble()
    (spool,) = ids(spool_root)
    store_server(agent_file, Server("http://127.0.0.1:9", TOKEN))
    start("sync", "--follow")
    # The upload started with the content that the other server rejects.
    wait_until(lambda: locks.is_held(spool_root / spool))

    store_server(agent_file, Server(double.url, TOKEN))

    try:
        wait_until(lambda: double.values("a") == [1.0])
    finally:
        double.stop()


def test_files_that_wait_are_counted_though_all_else_is_delivered(
    run_script, tracker, capsys
):
    run_script(UPLOAD.replace("b'content'", "bytes(100_000)"), SEAMARK_MODE="offline")
    tracker.part_script.append(Scripted(503, headers={"Retry-After": "3600"}))
    main(["sync"])
    capsys.readouterr()

    main(["status", "--json"])
    assert said(capsys)["spools"][0]["pending_bytes"] == 100_000

    main(["doctor", "--json"])
    assert "1 queue (100,000 bytes" in json.dumps(said(capsys))
