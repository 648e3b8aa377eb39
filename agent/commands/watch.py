"""Measure a running program until it ends or Ctrl-C is pressed.

Only a program's parent can read its exit code, so the run shows it as unknown. With
--json, the last line of standard error contains the run's name.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal

import psutil

from seamark.commands.output import Refusal, clean, tell
from seamark.commands.run import describe, end
from seamark.commands.watched_run import add_names, opened, print_json, settings_of

HELP = "monitor a running program"
EXAMPLES = ("seamark watch --pid 4711 --project digits --run baseline --stage train",)

_LOOK_SECONDS = 1.0
# Stored in the run as its outcome; the run's page recognizes both.
ENDED, LEFT_ALONE = "ended, exit code unknown", "left alone"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_names(parser)
    parser.add_argument("--pid", type=int, required=True, help="the program's PID")


def perform(chosen: argparse.Namespace) -> int:
    settings = settings_of(chosen)
    try:
        process = psutil.Process(chosen.pid)
        # Another user's process may be visible but not measurable.
        process.cpu_times()
        # A child's exit code can still be read.
        is_too_late = has_ended(process) and process.ppid() != os.getpid()
    except (psutil.Error, ValueError, OverflowError) as error:
        message = f"Cannot monitor process {chosen.pid} ({error})."
        raise Refusal("cannot_measure", message) from error
    if is_too_late:
        message = f"Process {chosen.pid} has already ended."
        raise Refusal("cannot_measure", message)
    # For a foreign program only facts about the machine are known.
    seen = settings.capture & {"host"}
    watching = settings._replace(watched=process.pid, capture=seen)
    run = opened(watching, chosen.tag)
    tell(
        f"monitoring process {chosen.pid} as run {clean(settings.run)!a} of"
        f" {clean(settings.project)!a} until it ends; press Ctrl-C to stop"
    )
    # SIGTERM ends this like Ctrl-C; the program's outcome is unknown then.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    watched = f"{settings.namespace}/watched"
    try:
        code = wait_for(process)
    except KeyboardInterrupt:
        tell(f"stopped monitoring process {chosen.pid}")
        run[watched] = LEFT_ALONE
        run.finish()
    else:
        if code is None:
            run[watched] = ENDED
        # Known if a shell started the program and then replaced itself by this one.
        end(run, None if code is None else describe(code), was_preempted=False)
    if chosen.json:
        print_json(settings)
    return 0


def wait_for(process: psutil.Process) -> int | None:
    """Return a program's exit code after its end; None if it is unknown.

    A zombie stays until its parent reads its exit code, possibly forever.
    """
    is_over = False
    while True:
        with contextlib.suppress(psutil.TimeoutExpired):
            # Once more after its end: a child's exit code is available only then.
            return process.wait(timeout=0 if is_over else _LOOK_SECONDS)
        if is_over:
            return None
        is_over = has_ended(process)


def has_ended(process: psutil.Process) -> bool:
    """Return whether a program has ended, even if it is a zombie."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
