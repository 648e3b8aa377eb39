"""`seamark run` measures programs without changes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import msgspec
import pytest

from seamark.commands import COMMANDS, main
from seamark.commands.run import describe
from tests.agent.conftest import REPOSITORY, wait_until

JOB = "monitoring/train/job/cpu_cores"
BUSY = "import time; end = time.time() + 2.5\nwhile time.time() < end: sum(range(1000))"


def states(tracker):
    return [(m["state"], m["failure"]) for m in tracker.of_kind("close")]


def test_a_program_is_measured_and_knows_nothing_of_it(tracker, perform):
    code, output, errors = perform(
        *("run", "--run", "r", "--project", "p", "--stage", "train", "--tag", "t"),
        *("--", sys.executable, "-c", f"print(input())\n{BUSY}"),
        said="typed\n",
    )

    assert (code, output, errors) == (0, "typed\n", "")
    opening = tracker.of_kind("open")[0]
    assert (opening["run"], opening["project"], opening["stage"]) == ("r", "p", "train")
    # CPU time of the program, not of the waiting process.
    main = max(tracker.values("monitoring/train/job/main_cpu_cores"))
    assert main > 0.5 * max(tracker.values(JOB)) > 0
    assert tracker.of_kind("tags")[0]["add"] == ["t"]
    assert states(tracker) == [("finished", "")]


def test_the_exit_code_is_kept_and_told(tracker, perform):
    code, _, _ = perform("run", "--", sys.executable, "-c", "raise SystemExit(3)")

    assert code == 3
    assert states(tracker) == [("failed", "The program ended with exit code 3.")]


def test_a_program_that_is_killed_is_said_to_be(tracker, perform):
    script = "import os; os.kill(os.getpid(), 9)"

    code, _, _ = perform("run", "--", sys.executable, "-c", script)

    assert code == 128 + 9
    assert states(tracker) == [
        ("failed", "The program was terminated by signal SIGKILL.")
    ]


# Durations as PyTorch prints after compilation, and time for some samples.
COMPILING = """
import sys, time, types
counts = types.SimpleNamespace(counters={"stats": {"unique_graphs": 3}})
frames = types.SimpleNamespace(FRAME_COMPILE_COUNTER={"a": 1})
sys.modules["torch._dynamo.utils"] = counts
sys.modules["torch._dynamo.convert_frame"] = frames
import agent
run = agent.init(%s)
run["a"].append(1.0)
time.sleep(2.5)
"""


def measured(tracker, stage):
    prefix = f"monitoring/{stage}/"
    return {
        path.removeprefix(prefix).partition("/")[0]
        for path in tracker.paths()
        if path.startswith(prefix)
    }


def test_a_script_with_the_agent_in_it_joins_the_run_and_measures_itself(
    tracker, perform
):
    script = COMPILING % "stage='train'"

    perform("run", "--run", "r", "--stage", "main", "--", sys.executable, "-c", script)

    openings = tracker.of_kind("open")
    assert {opening["run"] for opening in openings} == {"r"}
    assert {opening["stage"] for opening in openings} == {"main", "train"}
    assert tracker.values("a") == [1.0]
    assert tracker.values("monitoring/train/torch/compiled_graphs")[0] == 3.0
    assert measured(tracker, "train") == {"agent", "job", "torch"}
    assert {"host", "job"} <= measured(tracker, "main")


def test_of_one_stage_only_one_says_what_both_could(tracker, perform):
    perform("run", "--stage", "train", "--", sys.executable, "-c", COMPILING % "")

    own, others = sorted(
        {
            frozenset(path for message in of_spool for path in message)
            for of_spool in (
                [
                    message["paths"]
                    for frame in frames.values()
                    for message in msgspec.msgpack.decode(frame)
                    if message["t"] == "points"
                ]
                for frames in tracker.frames.values()
            )
        },
        key=len,
    )
    assert "monitoring/train/torch/compiled_graphs" in own
    assert not own & others
    described = tracker.attributes()["monitoring/train/facts/readings_of_process"]
    assert described.startswith("torch/")
    assert JOB in others


def test_a_script_on_another_machine_or_of_another_run_measures_everything(
    tracker, perform
):
    there = "os.environ['SEAMARK_MONITORED'].replace(machine_id(), 'another')"
    script = (
        "import os\nfrom seamark.lifecycle.machine import machine_id\n"
        f"os.environ['SEAMARK_MONITORED'] = {there}\n"
    )
    for stage, before in (("there", script), ("apart", "")):
        arguments = "stage='there'" if before else "'apart', stage='apart'"
        code = before + COMPILING % arguments
        perform("run", "--run", "r", "--", sys.executable, "-c", code)
        assert {"host", "job", "torch"} <= measured(tracker, stage)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_program_decides_what_a_signal_means(tracker, start, number):
    # print must not be interrupted by another print.
    script = """
import os, signal, sys, time
def leave(number, frame):
    os.write(1, b"saved\\n")
    sys.exit(0)
signal.signal(signal.SIGTERM, leave)
signal.signal(signal.SIGINT, leave)
os.write(1, b"ready\\n")
time.sleep(60)
"""
    process = start("run", "--", sys.executable, "-c", script, start_new_session=True)
    assert process.stdout.readline() == "ready\n"
    # Ctrl-C reaches the whole process group; a supervisor signals only its child.
    if number == signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)

    assert process.stdout.readline() == "saved\n"
    assert process.wait(60) == 0
    assert states(tracker) == [("finished", "")]
    # Ctrl-C is no preemption by a scheduler.
    was_told = number == signal.SIGTERM
    assert [m.get("preempted", False) for m in tracker.of_kind("close")] == [was_told]


def own_group(*ignored):
    """Start a new session in which these signals are ignored."""
    os.setsid()
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


def test_what_is_ignored_is_ignored_by_the_program_too(tracker, start):
    """`nohup` ignores SIGHUP, and a shell ignores Ctrl-C for background jobs."""
    script = """
import os, signal, time
print([signal.getsignal(n) is signal.SIG_IGN for n in
       (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)], flush=True)
time.sleep(1.5)
"""
    process = start(
        *("run", "--", sys.executable, "-c", script),
        preexec_fn=lambda: own_group(signal.SIGHUP, signal.SIGINT),
    )
    assert process.stdout.readline() == "[True, True, False]\n"
    for number in (signal.SIGHUP, signal.SIGINT):
        os.killpg(process.pid, number)

    assert process.wait(60) == 0
    assert states(tracker) == [("finished", "")]


def test_a_key_that_the_program_handles_does_not_end_what_measures_it(tracker, start):
    script = """
import os, signal, sys, time
signal.signal(signal.SIGQUIT, lambda *_: os.write(1, b"all threads\\n"))
os.write(1, b"ready\\n")
time.sleep(1.5)
"""
    process = start("run", "--", sys.executable, "-c", script, start_new_session=True)
    assert process.stdout.readline() == "ready\n"
    os.killpg(process.pid, signal.SIGQUIT)

    assert process.stdout.readline() == "all threads\n"
    assert process.wait(60) == 0
    assert states(tracker) == [("finished", "")]


def test_ctrl_c_ends_it_as_it_ends_the_program(tracker, start):
    """Otherwise a shell loop would continue with the next command."""
    script = "import time; print('ready', flush=True); time.sleep(60)"
    process = start("run", "--", sys.executable, "-c", script, start_new_session=True)
    assert process.stdout.readline() == "ready\n"
    os.killpg(process.pid, signal.SIGINT)

    assert process.wait(60) == -signal.SIGINT
    assert states(tracker) == [
        ("failed", "The program was terminated by signal SIGINT.")
    ]


def test_the_program_has_files_that_it_was_given_by_number(tracker, start):
    reading, writing = os.pipe()
    script = f"import os; os.write({writing}, b'said there')"
    process = start(*("run", "--", sys.executable, "-c", script), pass_fds=(writing,))
    os.close(writing)

    with os.fdopen(reading, "rb") as file:
        assert file.read() == b"said there"
    assert process.wait(60) == 0


def test_of_a_command_line_secrets_are_not_stored_nor_more_than_there_is_room_for(
    tracker, perform, monkeypatch
):
    monkeypatch.setenv("MY_API_KEY", "d0c4a1b2-not-by-its-shape")
    monkeypatch.setenv("SEAMARK_CAPTURE", "source")
    many = [f"data/{number:05}.tar" for number in range(7_000)]

    code, _, _ = perform(
        "run", "--", "true", "--for", "d0c4a1b2-not-by-its-shape", *many
    )

    assert code == 0
    stored = tracker.attributes()["monitoring/main/source/arguments"]
    assert stored.startswith("true --for [redacted] data/00000.tar data/00001.tar")
    assert stored.endswith("more characters are not stored")


def test_a_file_that_may_not_be_run_is_not_said_to_be_missing(
    tracker, perform, tmp_path
):
    (tmp_path / "train.sh").write_text("#!/bin/sh\ntrue\n")

    code, _, errors = perform("run", "--", "./train.sh")

    assert code == 126
    assert "./train.sh: Permission denied" in errors


def test_a_script_whose_first_line_says_nothing_is_the_shells(
    tracker, perform, tmp_path, monkeypatch
):
    monkeypatch.setenv("SEAMARK_CAPTURE", "source")
    script = tmp_path / "train.sh"
    script.write_text('test "$1" = --epochs && exit 4\n')
    script.chmod(0o755)

    code, _, _ = perform("run", "--", "./train.sh", "--epochs")

    assert code == 4
    stored = tracker.attributes()["monitoring/main/source/arguments"]
    assert stored == "./train.sh --epochs"


def test_a_program_for_another_machine_is_not_the_shells(tracker, perform, tmp_path):
    program = tmp_path / "train"
    program.write_bytes(b"\x7fELF\0\0not for here")
    program.chmod(0o755)

    code, _, errors = perform("run", "--", "./train")

    assert code == 126
    assert "./train: Exec format error" in errors


def test_a_file_here_is_no_program_by_its_bare_name(tracker, perform, tmp_path):
    """Shells look for that on the path alone."""
    (tmp_path / "train.sh").write_text("#!/bin/sh\ntrue\n")

    code, _, errors = perform("run", "--", "train.sh")

    assert code == 127
    assert "train.sh: not found" in errors


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["run"], 2, "Example: seamark run"),
        (["run", "--", "no-such-program"], 127, "no-such-program: not found"),
        (["run", "--stage", "a/b", "--", "true"], 2, "must not contain a slash"),
        (["watch", "--pid", "99999999"], 1, "Cannot monitor process"),
    ],
)
def test_what_cannot_be_done_is_said(tracker, perform, arguments, code, words):
    found, _, errors = perform(*arguments)

    assert found == code
    assert words in errors
    assert "Traceback" not in errors
    assert tracker.messages() == []


def test_a_program_that_runs_already_is_measured_until_it_ends(tracker, start):
    measured = "monitoring/train/job/main_cpu_cores"
    with subprocess.Popen(
        [sys.executable, "-c", "while True: sum(range(1000))"]
    ) as busy:
        watching = start("watch", "--pid", str(busy.pid), "--stage", "train")
        try:
            wait_until(lambda: any(v > 0.02 for v in tracker.values(measured)), 60)
        finally:
            busy.kill()
            busy.wait()
        assert watching.wait(60) == 0
    assert states(tracker) == [("finished", "")]
    # It was killed, which only its parent can detect.
    watched = tracker.attributes()["monitoring/train/watched"]
    assert watched == "ended, exit code unknown"


def test_watching_ends_with_ctrl_c_and_leaves_the_program_alone(tracker, start):
    sleeping = [sys.executable, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(sleeping) as program:
        watching = start("watch", "--pid", str(program.pid))
        wait_until(lambda: tracker.of_kind("open"))
        watching.send_signal(signal.SIGINT)

        assert watching.wait(60) == 0
        assert program.poll() is None
        program.kill()
    assert tracker.attributes()["monitoring/main/watched"] == "left alone"


def test_watching_ends_though_nobody_asks_how_the_program_ended(
    tracker, start, perform
):
    sleeping = [sys.executable, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(sleeping) as program:
        watching = start("watch", "--pid", str(program.pid))
        wait_until(lambda: tracker.of_kind("open"))
        program.kill()

        # It is a zombie, of this process.
        assert watching.wait(60) == 0
        code, _, errors = perform("watch", "--pid", str(program.pid))
    watched = tracker.attributes()["monitoring/main/watched"]
    assert watched == "ended, exit code unknown"
    assert code == 1
    assert "has already ended" in errors


def test_a_child_that_ended_before_it_was_watched_says_how(tracker, tmp_path):
    script = """
import os, sys
child = os.fork()
if not child:
    os._exit(3)
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
words = [sys.executable, "-m", "seamark", "watch", "--pid", str(child)]
os.execv(sys.executable, words)
"""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-c", script]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True)

    assert states(tracker) == [("failed", "The program ended with exit code 3.")]


def test_a_shell_that_becomes_the_watch_of_its_program_knows_how_it_ended(
    tracker, tmp_path
):
    """The program is then a child of the watching process."""
    command = f'sleep 1 && exit 3 & exec "{sys.executable}" -m seamark watch --pid $!'
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    result = subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stderr

    assert f"as run {tracker.of_kind('open')[0]['run']!r} of 'default'" in result
    assert states(tracker) == [("failed", "The program ended with exit code 3.")]
    assert "monitoring/main/watched" not in tracker.attributes()


def test_without_arguments_it_says_what_there_is(capsys):
    assert main([]) == 0

    output = capsys.readouterr().out
    assert all(f"\n    {name} " in output for name in COMMANDS)


@pytest.mark.parametrize(
    ("code", "words"), [(0, None), (1, "exit code 1"), (-9, "SIGKILL"), (-99, "99")]
)
def test_how_a_program_ended_is_said_in_words(code, words):
    text = describe(code)

    assert text is None if words is None else words in text
