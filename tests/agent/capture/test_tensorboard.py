"""TensorBoard's event files, followed while a run is open."""

from __future__ import annotations

import os
import struct
import time

import pytest

import agent
from seamark.capture import tensorboard
from tests.agent.conftest import wait_until
from tests.agent.event_files import (
    append,
    doubles,
    event,
    file_name,
    hyperparameters,
    message,
    scalar,
    tensor,
)

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c4944415408d763f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)


@pytest.fixture(autouse=True)
def workplace(tmp_path, monkeypatch):
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def init(**options):
    return agent.init("r", monitor=False, **{"sync_tensorboard": True, **options})


def test_scalars_arrive_while_the_run_is_open(tracker, workplace):
    file = workplace / "runs" / "today" / file_name()
    with init():
        append(file, event(3, scalar("loss", 0.5), wall_time=1_700_000_000.25))
        wait_until(lambda: tracker.values("loss") == [0.5])
        append(file, event(4, scalar("loss", 0.25)))
        wait_until(lambda: tracker.values("loss") == [0.5, 0.25])

    (first, _) = tracker.of_kind("points")
    assert struct.unpack("<d", first["steps"]) == (3.0,)
    assert struct.unpack("<q", first["times"]) == (1_700_000_000_250_000,)


def test_what_is_written_last_arrives_too(tracker, workplace):
    with init():
        append(
            workplace / file_name(), *(event(n, scalar("loss", n)) for n in range(9))
        )

    assert tracker.values("loss") == [float(n) for n in range(9)]


def test_hyperparameters_become_parameters(tracker, workplace):
    with init():
        append(workplace / file_name(), event(0, hyperparameters(lr=0.1)))

    assert tracker.attributes()["params/lr"] == 0.1


def test_histograms_texts_and_images_arrive(tracker, workplace):
    rows = doubles(0.0, 1.0, 2.0)
    with init():
        append(
            workplace / file_name(),
            event(1, tensor("w", "histograms", (1, 2), (4, rows))),
            event(1, tensor("note", "text", (1, 7), (8, b"hello"))),
            event(1, message((1, "cat"), (4, message((4, PNG))))),
        )

    kinds = {m["path"]: m["kind"] for m in tracker.of_kind("records")}
    assert kinds == {"w": "histogram", "note": "text", "cat": "image"}
    assert PNG in tracker.stored.values()


def test_files_of_other_processes_and_of_before_are_left_out(tracker, workplace):
    other = workplace / file_name(process=os.getpid() + 1)
    before = workplace / file_name(1)
    append(before, event(1, scalar("old", 1.0)))
    os.utime(before, (1, 1))
    with init():
        append(other, event(1, scalar("other", 1.0)))
        append(workplace / file_name(2), event(1, scalar("own", 1.0)))

    assert tracker.values("own") == [1.0]
    assert not tracker.values("other")
    assert not tracker.values("old")


def test_a_file_that_is_open_for_writing_needs_no_name_of_the_process(
    tracker, tmp_path
):
    path = tmp_path / "elsewhere" / "events.out.tfevents.1.host"
    append(path)
    with init(), path.open("ab"):
        append(path, event(1, scalar("loss", 1.0)))
        wait_until(lambda: tracker.values("loss") == [1.0])


def test_a_named_folder_is_followed_whoever_writes_to_it(tracker, tmp_path):
    folder = tmp_path / "logs"
    with init(sync_tensorboard=folder):
        append(folder / "a" / file_name(process=1), event(1, scalar("loss", 1.0)))

    assert tracker.values("loss") == [1.0]


def test_folders_of_a_job_have_their_names_before_their_series(tracker, workplace):
    with init():
        for name in "train", "validation":
            append(workplace / "logs" / name / file_name(), event(1, scalar("loss", 1)))

    assert tracker.values("train/loss") == [1.0]
    assert tracker.values("validation/loss") == [1.0]


def test_a_folder_below_the_first_one_has_its_name_before_its_series(
    tracker, workplace
):
    runs = workplace / "runs"
    with init():
        append(runs / file_name(), event(1, scalar("loss", 1.0)))
        wait_until(lambda: tracker.values("loss") == [1.0])
        append(runs / "loss_val" / file_name(1), event(1, scalar("loss", 2.0)))

    assert tracker.values("loss") == [1.0]
    assert tracker.values("loss_val/loss") == [2.0]


def test_two_runs_in_a_row_do_not_share_a_file(tracker, workplace):
    with init():
        append(workplace / file_name(), event(1, scalar("loss", 1.0)))
    with agent.init("s", monitor=False, sync_tensorboard=True):
        append(workplace / file_name(1), event(1, scalar("other", 1.0)))

    assert tracker.values("loss") == [1.0]
    assert tracker.values("other") == [1.0]


def test_a_damaged_file_is_reported_once_and_others_go_on(tracker, workplace, caplog):
    damaged = workplace / file_name()
    damaged.write_bytes(b"\x01" * 100)
    with init():
        damaged.write_bytes(b"\x01" * 100)
        append(workplace / file_name(1), event(1, scalar("loss", 1.0)))

    assert tracker.values("loss") == [1.0]
    assert caplog.text.count("is damaged") == 1


def test_the_end_waits_for_its_time_and_no_longer(
    tracker, workplace, monkeypatch, caplog
):
    monkeypatch.setenv("SEAMARK_EXIT_SECONDS", "1")
    monkeypatch.setattr(tensorboard, "_READ_BYTES", 1)
    events = [event(n, scalar("loss", 1.0)) for n in range(100_000)]
    run = init()
    append(workplace / file_name(), *events)

    began = time.monotonic()
    run.finish()

    assert time.monotonic() - began < 3
    assert "before the run ended" in caplog.text


def test_a_value_that_a_strict_run_refuses_does_not_end_the_thread(tracker, workplace):
    with init(strict=True):
        append(
            workplace / file_name(),
            event(1, scalar("", 1.0)),
            event(1, scalar("loss", 1.0)),
        )

    assert tracker.values("loss") == [1.0]


def test_by_default_nothing_is_followed(tracker, workplace):
    with agent.init("r", monitor=False) as run:
        append(workplace / file_name(), event(1, scalar("loss", 1.0)))
        run["other"].append(1.0)

    assert not tracker.values("loss")


@pytest.mark.parametrize("given", [3, "a\0b", object()])
def test_what_is_no_folder_is_refused(given):
    with pytest.raises(agent.InvalidSetting, match="sync_tensorboard"):
        init(sync_tensorboard=given)
