"""What `run` and `watch` have in common: a run for a process that knows nothing of it."""

from __future__ import annotations

import argparse
import os
import sys

from agent.errors import InvalidSetting
from agent.run import Run
from agent.settings import Settings, read_settings


def add_names(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--run", help="the run's name (SEAMARK_RUN)")
    parser.add_argument("--project", help="its project (SEAMARK_PROJECT)")
    parser.add_argument("--stage", help="which part of the run it is (SEAMARK_STAGE)")
    parser.add_argument(
        "--tag", action="append", default=[], help="add a tag; may be repeated"
    )


def settings_of(chosen: argparse.Namespace) -> Settings | None:
    """Return what was chosen; None, and a line that says why, if it cannot be meant."""
    try:
        return read_settings(
            chosen.run,
            project=chosen.project,
            stage=chosen.stage,
            rank=None,
            mode=None,
            monitor=True,
            strict=False,
            environment=os.environ,
        )
    except InvalidSetting as error:
        tell(str(error))
        return None


def opened(settings: Settings, tags: list[str]) -> Run:
    """Return a run that has begun to measure."""
    run = Run(settings)
    run.start()
    if tags:
        run.add_tags(*tags)
    return run


def tell(line: str) -> None:
    # Standard output is the program's own.
    sys.stderr.write(f"seamark: {line}\n")
