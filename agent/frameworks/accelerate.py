"""Accelerate: a tracker for its Accelerator.

from agent.frameworks.accelerate import SeamarkTracker

accelerator = Accelerator(log_with=SeamarkTracker(run))
accelerator.init_trackers("digits", config={"learning_rate": 0.1})
for batch in run.loader(accelerator.prepare(loader)):
    ...
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from accelerate.tracking import GeneralTracker, on_main_process

from agent import hooks
from agent.api import init
from agent.frameworks.quiet import quiet
from agent.frameworks.runs import run_for
from agent.run import Run

# The module whose code makes a tracker that is named, rather than given.
_ACCELERATOR = "accelerate.accelerator"


class SeamarkTracker(GeneralTracker):
    """Logs what `accelerator.log` is given, from the main process alone.

    Args:
        run: The run to log into, or its name; by default the one that is open.
            Where `log_with="seamark"` names a tracker that was registered, what is not
            open yet is a new run of the project that `init_trackers` says.
    """

    name = "seamark"
    requires_logging_directory = False
    main_process_only = True

    def __init__(self, run: Run | str | None = None) -> None:
        super().__init__()
        # What is registered Accelerate makes by itself, and gives it the project's name.
        maker = sys._getframe(1).f_globals.get("__name__")  # noqa: SLF001 - documented
        is_project = isinstance(run, str) and maker == _ACCELERATOR
        self._project = str(run) if is_project else None
        self._given = None if is_project else run
        self._run: Run | None = run if isinstance(run, Run) else None
        self._is_ours = False

    @on_main_process
    @quiet
    def start(self) -> None:
        """Open the run, now that processes know their ranks."""
        self._opened()

    @property
    def tracker(self) -> Run | None:
        """The run, as `accelerator.get_tracker("seamark").tracker`."""
        return self._run

    @on_main_process
    @quiet
    def store_init_configuration(self, values: Mapping[str, Any]) -> None:
        """Log parameters, nested as they like, below `params/`."""
        if values:
            self._opened()["params"] = values

    @on_main_process
    @quiet
    def log(
        self, values: Mapping[str, Any], step: int | None = None, **options: Any
    ) -> None:
        """Log texts as values, of which the last counts, and anything else as `Run.log`."""
        numbers: dict[str, Any] = {}
        for name, value in values.items():
            if isinstance(value, str):
                self._opened()[name] = value
            else:
                numbers[name] = value
        if numbers:
            self._opened().log(numbers, step=step)

    @on_main_process
    @quiet
    def finish(self) -> None:
        """Finish the run if it was opened here; whoever opened it before goes on."""
        if self._run is not None and self._is_ours:
            self._run.finish()
        # The next training finds the run anew.
        self._run = self._given if isinstance(self._given, Run) else None
        self._is_ours = False

    def _opened(self) -> Run:
        if self._run is None:
            opened = hooks.open_runs()
            self._run = self._found(opened)
            self._is_ours = self._run not in opened
        return self._run

    def _found(self, opened: list[hooks.OpenRun]) -> Run:
        if self._project is not None and not opened:
            return init(project=self._project)
        return run_for(self._given)
