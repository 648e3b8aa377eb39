"""Shared code of `run` and `watch`: the run of a process that does not use the agent."""

from __future__ import annotations

import argparse
import json
import os
import sys

from seamark.run import Run
from seamark.settings import Settings, read_settings


def add_names(parser: argparse.ArgumentParser, stage: str = "SEAMARK_STAGE") -> None:
    """Add the arguments of a run's names; `stage` is the default shown in the help."""
    parser.add_argument("--run", help="the run's name (SEAMARK_RUN)")
    parser.add_argument("--project", help="its project (SEAMARK_PROJECT)")
    parser.add_argument("--stage", help=f"the part of the run ({stage})")
    parser.add_argument(
        "--tag", action="append", default=[], help="add a tag; may be repeated"
    )


def settings_of(chosen: argparse.Namespace) -> Settings:
    """Return the settings from the arguments; raises InvalidSetting."""
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


def opened(settings: Settings, tags: list[str]) -> Run:
    """Return a started run."""
    run = Run(settings)
    run.start()
    if tags:
        run.add_tags(*tags)
    return run


def print_json(settings: Settings, **more: object) -> None:
    """Print the run's names to standard error, apart from the program's output."""
    names = {
        "run": settings.run,
        "project": settings.project,
        "stage": settings.stage,
    }
    sys.stderr.write(f"{json.dumps({**names, **more})}\n")
