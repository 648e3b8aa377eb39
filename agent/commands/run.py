"""Run a program and measure hardware and state, without a change to its code.

Everything after -- is the program and its arguments. Its input, output, open files and
exit code are unaffected. Its output to files, terminals, pipes and sockets is stored as
the run's logs, unless --no-logs is given. A script that uses the agent joins the same
run, unless it names another run or project.

With --json, the last line of standard error contains the run's name.
"""

from __future__ import annotations

import argparse
import errno
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from seamark.capture.signals import GRACE_SECONDS
from seamark.capture.texts import redacted_beginning
from seamark.commands.output import MISUSED, Refusal
from seamark.commands.program_output import ProgramOutput, program_output
from seamark.commands.watched_run import add_names, opened, print_json, settings_of
from seamark.redaction import make_redactor, redacted_arguments
from seamark.run import Run
from seamark.settings import Settings, as_monitored

HELP = "run a program and monitor it"
EXAMPLES = (
    "seamark run -- python train.py --epochs 3",
    "seamark run --project digits --run baseline --stage train -- ./train.sh",
)

# Exit codes as in shells.
_NOT_FOUND, _NOT_EXECUTABLE, _KILLED = 127, 126, 128
_PASSED_ON = (
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGXCPU,
)
# Signals of a terminal's keys reach the whole group, including the program.
_OF_KEYS = (signal.SIGINT, signal.SIGQUIT)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_names(parser)
    parser.add_argument(
        "--no-logs",
        action="store_true",
        help="do not capture or store the program's output",
    )
    parser.add_argument(
        "program",
        nargs=argparse.REMAINDER,
        metavar="-- program …",
        help="the program and its arguments",
    )


def perform(chosen: argparse.Namespace) -> int:
    program = chosen.program[1:] if chosen.program[:1] == ["--"] else chosen.program
    if not program:
        raise Refusal(
            "invalid_usage",
            "No program given. Example: seamark run --stage train -- python train.py",
            MISUSED,
        )
    settings = settings_of(chosen)
    if not _is_there(program[0]):
        raise Refusal("not_found", f"{program[0]}: not found", _NOT_FOUND)
    if chosen.no_logs:
        settings = settings._replace(capture=settings.capture - {"console"})
    with (
        _signals_passed_on() as (processes, passed_on),
        program_output(settings) as output,
    ):
        environment = environment_of_program(settings, output)
        try:
            process = _start(program, environment, output.streams)
        except OSError as error:
            message = f"{program[0]}: {error.strerror}"
            raise Refusal("not_executable", message, _NOT_EXECUTABLE) from error
        processes.append(process)
        _pass_on_what_came_before(process, passed_on)
        output.begin()
        run = opened(watching(settings, process.pid, output), chosen.tag)
        if "source" in settings.capture:
            state_program(run, program)
        code = process.wait()
        ended_at = time.monotonic()
        output.wait(lambda: any(at > ended_at for at in passed_on.values()))
        failure = describe(code)
        preempted_at = passed_on.get(signal.SIGTERM, float("-inf"))
        end(run, failure, was_preempted=time.monotonic() < preempted_at + GRACE_SECONDS)
    exit_code = code if code >= 0 else _KILLED - code
    if chosen.json:
        print_json(settings, exit_code=exit_code, failure=failure)
    if code == -signal.SIGINT:
        _end_by_ctrl_c()
    return exit_code


def _start(
    program: list[str], environment: Mapping[str, str], streams: Mapping[str, int]
) -> subprocess.Popen[bytes]:
    def start(command: list[str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            env=environment,
            stdout=streams.get("stdout"),
            stderr=streams.get("stderr"),
            # Shells pass files to programs by number, and MPI its sockets; our own
            # descriptors are close-on-exec.
            close_fds=False,
        )

    try:
        return start(program)
    except OSError as error:
        path = shutil.which(program[0])
        if error.errno != errno.ENOEXEC or path is None or not _is_text(path):
            raise
    # A script without an interpreter line is run by the shell, as `env` does.
    return start(["/bin/sh", path, *program[1:]])


def _is_text(path: str) -> bool:
    with Path(path).open("rb") as file:
        return b"\0" not in file.read(4096)


def _is_there(name: str) -> bool:
    """Return whether there is such a program, even if it is not executable."""
    return Path(name).exists() if os.sep in name else shutil.which(name) is not None


def _end_by_ctrl_c() -> None:
    """End by SIGINT like the program: a shell loop continues after any exit code."""
    sys.stdout.flush()
    sys.stderr.flush()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)


def end(run: Run, failure: str | None, *, was_preempted: bool) -> None:
    """Finish the run with the program's result, as preempted if it got SIGTERM."""
    if was_preempted:
        if failure is not None:
            run.note_failure(failure)
        run.preempt()
    elif failure is None:
        run.finish()
    else:
        run.fail(failure)


def describe(code: int) -> str | None:
    """Describe how a program failed; None if it succeeded."""
    if code == 0:
        return None
    if code > 0:
        return f"The program ended with exit code {code}."
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = str(-code)
    return f"The program was terminated by signal {name}."


def environment_of_program(settings: Settings, output: ProgramOutput) -> dict[str, str]:
    """Return the environment of the program, for scripts that use the agent."""
    # Captured output must not be stored twice.
    seen = {"console"} if output.is_kept else set()
    return {
        **os.environ,
        "SEAMARK_PROJECT": settings.project,
        "SEAMARK_RUN": settings.run,
        "SEAMARK_STAGE": settings.stage,
        # This process measures the machine, but not data only visible in the program or
        # on other machines.
        "SEAMARK_MONITORED": as_monitored(settings),
        "SEAMARK_CAPTURE": ",".join(sorted(settings.capture - seen)) or "no",
    }


def watching(settings: Settings, process: int, output: ProgramOutput) -> Settings:
    """Return the settings for watching a program, with sources visible from outside."""
    seen = settings.capture & {"console", "environment", "git", "host"}
    return settings._replace(
        watched=process, followed=output.files, relays=output.relays, capture=seen
    )


def state_program(run: Run, program: list[str]) -> None:
    """Store the command line of the program."""
    path = f"{run.settings.namespace}/source/arguments"
    line = shlex.join(redacted_arguments(program))
    run[path] = redacted_beginning(line, make_redactor())


def _pass_on_what_came_before(
    process: subprocess.Popen[bytes], passed_on: Mapping[int, float]
) -> None:
    for number in [*passed_on]:
        if number in _PASSED_ON:
            process.send_signal(number)


@contextmanager
def _signals_passed_on() -> Iterator[
    tuple[list[subprocess.Popen[bytes]], dict[int, float]]
]:
    """Forward signals to the programs in the list; record the time of each signal."""
    programs: list[subprocess.Popen[bytes]] = []
    passed_on: dict[int, float] = {}

    def note(number: int, _: FrameType | None) -> None:
        passed_on[number] = time.monotonic()

    def pass_on(number: int, frame: FrameType | None) -> None:
        note(number, frame)
        for program in programs:
            if program.poll() is None:
                program.send_signal(number)

    handlers = dict.fromkeys(_OF_KEYS, note) | dict.fromkeys(_PASSED_ON, pass_on)
    before = {}
    for number, handler in handlers.items():
        # A child inherits ignored signals, but not handlers. So signals ignored by our
        # parent, for example nohup, stay ignored, and no others are.
        if signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, handler)
    try:
        yield programs, passed_on
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
