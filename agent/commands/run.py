"""Runs a program and measures it: hardware and state, without a change to its code.

Everything behind -- is the program and its arguments. Its input, output and exit code
are as they would be without this. A script that uses the agent joins the same run.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType

from agent.capture.tail import find_followed
from agent.commands.watched import add_names, opened, settings_of, tell
from agent.redaction import redacted_arguments
from agent.run import Run
from agent.settings import Settings

HELP = "run a program and measure it: seamark run -- python train.py"

# As shells say it.
_NOT_FOUND, _NOT_EXECUTABLE, _KILLED = 127, 126, 128
_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_names(parser)
    parser.add_argument(
        "program",
        nargs=argparse.REMAINDER,
        metavar="-- program …",
        help="what to run, with its arguments",
    )


def perform(chosen: argparse.Namespace) -> int:
    program = chosen.program[1:] if chosen.program[:1] == ["--"] else chosen.program
    if not program:
        tell(
            "nothing to run; for example: seamark run --stage train -- python train.py"
        )
        return 2
    settings = settings_of(chosen)
    if settings is None:
        return 2
    if shutil.which(program[0]) is None:
        tell(f"{program[0]}: not found")
        return _NOT_FOUND
    followed = find_followed()
    environment = {
        **os.environ,
        "SEAMARK_PROJECT": settings.project,
        "SEAMARK_RUN": settings.run,
        "SEAMARK_STAGE": settings.stage,
        # Once is enough.
        "SEAMARK_MONITOR": "no",
        "SEAMARK_CAPTURE": capture_of_program(settings, followed),
    }
    with _signals_passed_on() as processes:
        try:
            process = subprocess.Popen(program, env=environment)
        except OSError as error:
            tell(f"{program[0]}: {error.strerror}")
            return _NOT_EXECUTABLE
        processes.append(process)
        run = opened(watching(settings, process.pid, followed), chosen.tag)
        if "source" in settings.capture:
            state_program(run, program)
        code = process.wait()
        failure = describe(code)
        if failure is None:
            run.finish()
        else:
            run.fail(failure)
    return code if code >= 0 else _KILLED - code


def describe(code: int) -> str | None:
    """Say in words how a program ended; None if all went well."""
    if code == 0:
        return None
    if code > 0:
        return f"The program ended with exit code {code}."
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = str(-code)
    return f"The program was ended by the signal {name}."


def watching(settings: Settings, process: int, followed: dict[str, int]) -> Settings:
    """Return the settings of what watches a program, and can see that much of it."""
    seen = settings.capture & {"console", "environment", "git", "host"}
    return replace(settings, watched=process, followed=followed, capture=seen)


def capture_of_program(settings: Settings, followed: dict[str, int]) -> str:
    """Return what a program that uses the agent captures itself, as a setting."""
    # What is written to files is followed from here; else its agent looks itself.
    seen = {"console"} if followed else set()
    return ",".join(sorted(settings.capture - seen)) or "no"


def state_program(run: Run, program: list[str]) -> None:
    """Store the command line that is run."""
    path = f"{run.settings.namespace}/source/arguments"
    run[path] = shlex.join(redacted_arguments(program))


@contextmanager
def _signals_passed_on() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Leave to the programs in the list what they do about signals."""
    programs: list[subprocess.Popen[bytes]] = []

    def pass_on(number: int, _: FrameType | None) -> None:
        for program in programs:
            if program.poll() is None:
                program.send_signal(number)

    # Ctrl-C reaches the whole group, the program in it.
    before = {signal.SIGINT: signal.signal(signal.SIGINT, leave_alone)}
    for number in _PASSED_ON:
        before[number] = signal.signal(number, pass_on)
    try:
        yield programs
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def leave_alone(number: int, frame: FrameType | None) -> None:
    """Do nothing; a signal that is ignored would be ignored by the program, too."""
