"""What `run` and `watch` have in common: a run for a process that knows nothing of it."""

from __future__ import annotations

import argparse
import json
import os
import sys

from seamark.run import Run
from seamark.settings import Settings, read_settings


def add_names(parser: argparse.ArgumentParser, stage: str = "SEAMARK_STAGE") -> None:
    """Offer the names of a run; of the stage with what counts where it is not said."""
    parser.add_argument("--run", help="the run's name (SEAMARK_RUN)")
    parser.add_argument("--project", help="its project (SEAMARK_PROJECT)")
    parser.add_argument("--stage", help=f"which part of the run it is ({stage})")
    parser.add_argument(
        "--tag", action="append", default=[], help="add a tag; may be repeated"
    )


def settings_of(chosen: argparse.Namespace) -> Settings:
    """Return what was chosen, or raise InvalidSetting if it cannot be meant."""
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
    """Return a run that has begun to measure."""
    run = Run(settings)
    run.start()
    if tags:
        run.add_tags(*tags)
    return run


def tell_json(settings: Settings, **more: object) -> None:
    """Say which run it was, where the program's own output does not go."""
    names = {
        "run": settings.run,
        "project": settings.project,
        "stage": settings.stage,
    }
    sys.stderr.write(f"{json.dumps({**names, **more})}\n")
