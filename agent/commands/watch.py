"""Measures a program that runs already, until it ends or Ctrl-C is pressed.

How it ended is told to nobody but who started it; the run says so, beside its state.
With --json, the last line of standard error says which run it was.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal

import psutil

from seamark.commands.output import Refusal, clean, tell
from seamark.commands.run import describe, end
from seamark.commands.watched import add_names, opened, settings_of, tell_json

HELP = "measure a program that runs already"
EXAMPLES = ("seamark watch --pid 4711 --project digits --run baseline --stage train",)

_LOOK_SECONDS = 1.0
# What the run says of how it ended; its pages know the two.
ENDED, LEFT_ALONE = "ended, exit code unknown", "left alone"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_names(parser)
    parser.add_argument("--pid", type=int, required=True, help="of the program")


def perform(chosen: argparse.Namespace) -> int:
    settings = settings_of(chosen)
    try:
        process = psutil.Process(chosen.pid)
        # Another user's may be seen, but not measured.
        process.cpu_times()
        # Of a child, it can still be asked how it ended.
        is_too_late = has_ended(process) and process.ppid() != os.getpid()
    except (psutil.Error, ValueError, OverflowError) as error:
        message = f"The process {chosen.pid} cannot be measured ({error})."
        raise Refusal("cannot_measure", message) from error
    if is_too_late:
        message = f"The process {chosen.pid} has ended already."
        raise Refusal("cannot_measure", message)
    # Of a program of somebody else no more is known than where it runs.
    seen = settings.capture & {"host"}
    watching = settings._replace(watched=process.pid, capture=seen)
    run = opened(watching, chosen.tag)
    tell(
        f"the process {chosen.pid} is measured as the run {clean(settings.run)!a} of"
        f" {clean(settings.project)!a} until it ends, or until Ctrl-C"
    )
    # `kill` ends this as Ctrl-C does; of the program nothing is known then.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    watched = f"{settings.namespace}/watched"
    try:
        code = wait_for(process)
    except KeyboardInterrupt:
        tell(f"the process {chosen.pid} is left alone")
        run[watched] = LEFT_ALONE
        run.finish()
    else:
        if code is None:
            run[watched] = ENDED
        # A shell that starts a program and then becomes this knows the code.
        end(run, None if code is None else describe(code), was_told=False)
    if chosen.json:
        tell_json(settings)
    return 0


def wait_for(process: psutil.Process) -> int | None:
    """Return a program's exit code once it has ended; None if that is not known.

    It is there, as a zombie, until who started it asks: perhaps for ever.
    """
    is_over = False
    while True:
        with contextlib.suppress(psutil.TimeoutExpired):
            # Once more after its end: of a child, the code is known only then.
            return process.wait(timeout=0 if is_over else _LOOK_SECONDS)
        if is_over:
            return None
        is_over = has_ended(process)


def has_ended(process: psutil.Process) -> bool:
    """Whether a program has ended, though its number may still be taken."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
