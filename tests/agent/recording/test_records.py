from __future__ import annotations

import struct

import pytest

import agent
from seamark.queue import buffer
from seamark.queue.buffer import Buffer
from seamark.recording.records import Record
from seamark.recording.values import LONGEST_TEXT
from tests.agent.conftest import wait_until


def init(name="r", **arguments):
    return agent.init(name, **{"monitor": False, **arguments})


def texts(tracker, path):
    """Return steps and texts logged to a path, in order of arrival."""
    found = []
    for message in tracker.messages():
        if message["t"] == "records" and message["path"] == path:
            assert message["kind"] == "text"
            count = len(message["steps"]) // 8
            data, place = message["values"], 0
            sizes = struct.unpack(f"<{count}I", message["sizes"])
            steps = struct.unpack(f"<{count}d", message["steps"])
            for step, size in zip(steps, sizes, strict=True):
                found.append((step, data[place : place + size].decode()))
                place += size
            assert place == len(data)
    return found


def test_texts_arrive_in_order_and_count_their_own_steps(tracker):
    with init() as run:
        run["logs/stdout"].append("one")
        run["logs/stdout"].append("zwei €", step=10)
        run["logs/stdout"].extend(["three", ""])

    assert texts(tracker, "logs/stdout") == [
        (0, "one"),
        (10, "zwei €"),
        (11, "three"),
        (12, ""),
    ]


def test_a_dictionary_may_hold_texts_beside_numbers(tracker):
    with init() as run:
        for step in range(3):
            run.log({"loss": 0.5, "sample": f"text {step}", "empty": {}}, step=step)

    assert tracker.values("loss") == [0.5] * 3
    assert texts(tracker, "sample") == [(0, "text 0"), (1, "text 1"), (2, "text 2")]
    assert texts(tracker, "empty") == []


def test_a_series_holds_one_kind_and_says_so_once(tracker, caplog):
    with init() as run:
        run["loss"].append(1.0)
        run["text"].append("a")
        run["value"] = "b"
        for _ in range(3):
            run["loss"].append("not a number")
            run["text"].append(1.0)
            run["value"].append("c")

    assert tracker.values("loss") == [1.0]
    assert texts(tracker, "text") == [(0, "a")]
    assert texts(tracker, "value") == []
    messages = sorted(record.getMessage() for record in caplog.records)
    assert len(messages) == 3
    assert "'loss' already contains a series of numbers" in messages[0]


def test_a_text_that_is_too_long_keeps_its_beginning(tracker, caplog):
    with init() as run:
        for _ in range(2):
            run["a"].append("x" * (LONGEST_TEXT + 5_000))

    (_, text), _ = texts(tracker, "a")
    assert len(text) <= LONGEST_TEXT
    kept = len(text) - len(text.lstrip("x"))
    assert text.endswith(f" … [{LONGEST_TEXT + 5_000 - kept:,} more characters]")
    assert ["longer than" in r.getMessage() for r in caplog.records] == [True]


def test_text_that_is_no_unicode_arrives_with_replacements(tracker):
    with init() as run:
        run["a"].append("half \ud800 and \0 nul")

    assert texts(tracker, "a") == [(0, "half ? and \0 nul")]


def test_a_flood_of_text_is_dropped_and_counted_rather_than_kept(monkeypatch):
    monkeypatch.setattr(buffer, "RECORD_CAPACITY_BYTES", 10_000)
    flooded = Buffer()

    for step in range(100):
        flooded.put_record(Record("text", "a", step, 0, b"x" * 1_000))

    kept = len(flooded)
    assert 0 < kept < 11
    assert flooded.take_dropped() == 100 - kept
    assert len(flooded.take_records(5_000)) < kept
    flooded.take_records(10**6)
    flooded.put_record(Record("text", "a", 0, 0, b"x"))
    assert (len(flooded), flooded.take_dropped()) == (1, 0)


def test_texts_are_in_the_spool_soon_after_the_call(spool_root):
    run = init(mode="offline")
    run["a"].append("a line to find again")

    def is_written():
        return any(
            b"a line to find again" in segment.read_bytes()
            for segment in spool_root.glob("*/*.frames")
        )

    wait_until(is_written)


def test_texts_of_a_killed_process_are_delivered_once(tracker, run_script):
    script = """
import os, signal, time, agent
run = agent.init("killed", monitor=False, mode="offline")
for line in range(1000):
    run["logs/stdout"].append(f"line {line}")
time.sleep(1.0)
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert run_script(script).returncode == -9

    sync = "import sys; from seamark.commands import main; sys.exit(main(['sync']))"
    assert run_script(sync, seconds=60).returncode == 0
    assert texts(tracker, "logs/stdout") == [
        (line, f"line {line}") for line in range(1000)
    ]


@pytest.mark.parametrize("value", ["text", agent.Histogram([1.0])], ids=repr)
def test_a_finished_run_takes_none(tracker, value):
    run = init()
    run.finish()

    run["a"].append(value)

    assert all(message["t"] != "records" for message in tracker.messages())


def test_a_note_lies_at_the_last_step_that_the_script_has_logged(tracker):
    with init(stage="train") as run:
        run.note("nothing yet")
        run.log({"train/loss": 0.5}, step=40)
        run["val/loss"].append(0.4, step=30)
        run.note("learning rate halved")
        run.note("new data from here", step=12.5)

    assert texts(tracker, "notes/train") == [
        (0.0, "nothing yet"),
        (40.0, "learning rate halved"),
        (12.5, "new data from here"),
    ]


def test_the_agents_own_readings_are_no_step_of_a_note(tracker):
    with init(stage="train") as run:
        run.log_at({"monitoring/train/job/cpu_cores": 1.0}, 9_000.0, 10**15)
        run.log({"loss": 1.0}, step=3)
        run.note("here")

    assert texts(tracker, "notes/train") == [(3.0, "here")]


@pytest.mark.parametrize("note", [5, None, b"bytes", object()])
def test_a_note_that_is_no_text_is_refused_and_said(tracker, caplog, note):
    with init(stage="train") as run:
        run.note(note)
        run.note("a text")

    assert texts(tracker, "notes/train") == [(0.0, "a text")]
    assert "is not a note: text" in caplog.text


def test_an_assigned_histogram_is_appended(tracker):
    with init() as run:
        run["weights"] = agent.Histogram([1.0, 2.0])

    stored = [m for m in tracker.messages() if m.get("path") == "weights"]
    assert [(m["t"], m["kind"]) for m in stored] == [("records", "histogram")]
