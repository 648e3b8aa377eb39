"""Restarted jobs, and the states of their processes."""

from __future__ import annotations

import struct
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import agent
from seamark.lifecycle.restarts import resumed_at
from tests.agent.conftest import wait_until
from tests.agent.tracker_double import Scripted

NOW = 1_700_000_000.5


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, None),
        ({"SLURM_RESTART_COUNT": "0"}, None),
        ({"SLURM_RESTART_COUNT": "junk"}, None),
        ({"SLURM_RESTART_COUNT": "1"}, NOW),
        ({"TORCHELASTIC_RESTART_COUNT": "2"}, NOW),
        # Since the job began, not this one of its scripts.
        (
            {"SLURM_RESTART_COUNT": "1", "SLURM_JOB_START_TIME": "1699999000"},
            1_699_999_000,
        ),
        ({"SLURM_RESTART_COUNT": "1", "SLURM_JOB_START_TIME": "9999999999"}, NOW),
        # Processes that were started again within the job.
        (
            {
                "SLURM_RESTART_COUNT": "1",
                "SLURM_JOB_START_TIME": "1699999000",
                "TORCHELASTIC_RESTART_COUNT": "1",
            },
            NOW,
        ),
        ({"SLURM_JOB_START_TIME": "1699999000"}, None),
    ],
)
def test_schedulers_say_whether_a_job_was_started_again(variables, expected):
    found = resumed_at(variables, NOW, began=lambda now: now)

    assert found == (None if expected is None else round(expected * 1_000_000))


def test_who_knows_better_may_say_so():
    assert resumed_at({}, NOW, override=True) == round(NOW * 1_000_000)
    assert resumed_at({"SLURM_RESTART_COUNT": "1"}, NOW, override=False) is None


def test_ranks_that_torchrun_starts_again_say_when_they_were_started():
    variables = {"TORCHELASTIC_RESTART_COUNT": "1"}

    assert (
        resumed_at(variables, NOW, began=lambda now: now - 9) == (NOW - 9) * 1_000_000
    )


def test_a_process_knows_when_it_was_started():
    now = time.time()
    code = (
        "import time; from seamark.lifecycle.restarts import process_start as began\n"
    )
    code += "time.sleep(0.5); print(began(time.time()))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )

    assert now - 0.1 < float(result.stdout) < time.time() - 0.4


def test_a_rank_that_is_late_does_not_hide_what_another_has_logged(
    tracker, run_script, tmp_path
):
    # torchrun starts both at once; this one is slow, and the other logs meanwhile.
    script = (
        "import os, time, agent\n"
        "time.sleep(float(os.environ['DELAY']))\n"
        "run = agent.init('r', monitor=False)\n"
        "run['train/loss'].append(1.0, step=int(os.environ['RANK']))\n"
    )
    began = time.time()
    with ThreadPoolExecutor() as ranks:
        for each, delay in (("0", "0"), ("1", "3")):
            ranks.submit(
                run_script,
                script,
                RANK=each,
                WORLD_SIZE="2",
                DELAY=delay,
                TORCHELASTIC_RESTART_COUNT="1",
            )

    since = [message["time"] for message in tracker.of_kind("rewind")]
    assert len(since) == 2
    assert max(since) < min(tracker.times("train/loss"))
    assert min(since) > (began - 1) * 1_000_000


def said(tracker):
    return {
        path: step
        for message in tracker.of_kind("rewind")
        for path, (step,) in zip(
            message["paths"], struct.iter_unpack("<d", message["steps"]), strict=True
        )
    }


def test_a_process_that_goes_on_says_from_which_step_once_for_each_series(
    tracker, monkeypatch
):
    monkeypatch.setenv("SLURM_RESTART_COUNT", "1")
    with agent.init("r", monitor=False) as run:
        for step in (801, 802, 803):
            run["train/loss"].append(0.5, step=step)
            run.log({"train/loss2": 0.5, "lr": 0.1}, step=step)
        run["late"].extend([1.0, 2.0], steps=[900, 901])
        # The indices of earlier points are unknown.
        run["counted"].append(1.0)
        run["counted"].append(1.0, step=7)
        run.steps._recorder.log_measured({"monitoring/main/cpu": 1.0}, 0.0)

    assert said(tracker) == {
        "train/loss": 801,
        "train/loss2": 801,
        "lr": 801,
        "late": 900,
    }
    times = {message["time"] for message in tracker.of_kind("rewind")}
    assert max(times) <= min(tracker.times("train/loss"))


def test_one_that_begins_says_nothing_of_it(tracker):
    with agent.init("r", monitor=False) as run:
        run["a"].append(1.0, step=801)

    assert not said(tracker)


def test_a_job_whose_run_has_no_name_is_told_that_it_begins_anew(
    tracker, monkeypatch, caplog
):
    monkeypatch.setenv("SLURM_RESTART_COUNT", "1")
    with agent.init(project="p", monitor=False):
        pass
    assert "has no fixed name" in caplog.text


def test_what_is_logged_again_by_one_process_says_since_when_each_time(tracker):
    with agent.init("r", monitor=False, strict=True) as run:
        run.log_again({"train/loss": 2.0, "": 0.0})
        time.sleep(0.001)
        run.log_again({"train/loss": 1.0, "lr": 1.0})

    first, second = tracker.of_kind("rewind")
    assert (first["paths"], second["paths"]) == (["train/loss"], ["train/loss", "lr"])
    assert first["time"] < second["time"]


@pytest.mark.parametrize("resume", [True, False])
def test_a_script_says_itself_that_it_resumes(tracker, monkeypatch, resume):
    monkeypatch.setenv("SEAMARK_RESUMED", "no" if resume else "yes")
    with agent.init("r", monitor=False, capture=False, resume=resume) as run:
        run["loss"].append(1.0, step=5)

    (opening,) = tracker.of_kind("open")
    assert opening.get("resume", False) is resume
    assert len(tracker.of_kind("rewind")) == resume


CLOSED = Scripted(
    403, b'{"error": {"code": "run_finished", "message": "The run \'r\' is finished."}}'
)


def test_a_run_that_is_closed_warns_once_and_keeps_everything(tracker, caplog):
    tracker.script.extend([CLOSED] * 2)

    with agent.init("r", monitor=False, capture=False) as run:
        run["loss"].append(1.0)
        wait_until(lambda: tracker.requests)
        run["loss"].append(2.0)
        folder = run.settings.spool

    assert not tracker.frames
    assert list(folder.glob("*/*.frames"))
    warnings = [text for text in caplog.messages if "The run 'r' is finished" in text]
    assert len(warnings) == 1


def test_a_strict_run_that_is_closed_raises_at_its_next_call(tracker):
    tracker.script.extend([CLOSED] * 9)

    run = agent.init("r", monitor=False, capture=False, strict=True)
    run["loss"].append(1.0)

    def raises(call):
        try:
            call()
        except agent.RunClosed:
            return True
        return False

    wait_until(lambda: raises(lambda: run["loss"].append(2.0)))
    assert raises(lambda: run.log({"loss": 3.0}))
    assert raises(lambda: run.__setitem__("lr", 0.1))
    run.finish(timeout=0.1)
