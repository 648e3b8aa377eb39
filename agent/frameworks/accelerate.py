"""Accelerate: a tracker for its Accelerator.

from seamark.frameworks.accelerate import SeamarkTracker

accelerator = Accelerator(log_with=SeamarkTracker(run))
accelerator.init_trackers("digits", config={"learning_rate": 0.1})
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for batch in run.loader(loader):
    ...
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any

from accelerate import Accelerator
from accelerate.tracking import GeneralTracker, on_main_process
from accelerate.utils import DistributedDataParallelKwargs

from seamark.api import init
from seamark.frameworks.guarded import guarded
from seamark.frameworks.runs import run_for
from seamark.frameworks.torch import (
    DDP,
    is_spread,
    model_facts,
    optimizer_facts,
    scaler_facts,
)
from seamark.lifecycle import process_hooks
from seamark.recording.loader import loader_facts
from seamark.run import Run

# The module that calls trackers, and creates those passed by name.
_ACCELERATOR = "accelerate.accelerator"
_AUTOCAST = {"bf16": "bfloat16", "fp16": "float16", "no": "off"}


class SeamarkTracker(GeneralTracker):
    """Logs values of `accelerator.log`, and facts about the training setup.

    Only in the main process, as Accelerate does.

    Args:
        run: The run to log to, or its name; by default the open run. If
            `log_with="seamark"` names a registered tracker and no run is open, a
            new run is created in the project passed to `init_trackers`.
    """

    name = "seamark"
    requires_logging_directory = False
    main_process_only = True

    def __init__(self, run: Run | str | None = None) -> None:
        super().__init__()
        # Accelerate creates registered trackers itself, with the project's name.
        maker = sys._getframe(1).f_globals.get("__name__")  # noqa: SLF001 - documented
        is_project = isinstance(run, str) and maker == _ACCELERATOR
        self._project = str(run) if is_project else None
        self._given = None if is_project else run
        self._run: Run | None = run if isinstance(run, Run) else None
        self._is_ours = False
        self._is_model_known = False

    @on_main_process
    @guarded
    def start(self) -> None:
        """Open the run, now that processes know their ranks."""
        run = self._opened()
        self._is_model_known = False
        accelerator = _find_accelerator()
        if accelerator is not None:
            autocast = _AUTOCAST.get(str(accelerator.mixed_precision))
            # Set before the loop, so that an autocast context of the script takes
            # precedence.
            run.steps.state_facts({"torch/autocast": autocast} if autocast else {})
        self._look_at_accelerator()

    @property
    def tracker(self) -> Run | None:
        """The run, as `accelerator.get_tracker("seamark").tracker`."""
        return self._run

    @on_main_process
    @guarded
    def store_init_configuration(self, values: Mapping[str, Any]) -> None:
        """Log parameters, nested to any depth, under `params/`."""
        if values:
            self._opened()["params"] = values

    @on_main_process
    @guarded
    def log(
        self, values: Mapping[str, Any], step: int | None = None, **options: Any
    ) -> None:
        """Log texts as single values, and everything else as `Run.log` does."""
        self._look_at_accelerator()
        numbers: dict[str, Any] = {}
        for name, value in values.items():
            if isinstance(value, str):
                self._opened()[name] = value
            else:
                numbers[name] = value
        if numbers:
            self._opened().log(numbers, step=step)

    @on_main_process
    @guarded
    def finish(self) -> None:
        """Finish the run if it was opened here."""
        if self._run is not None and self._run in process_hooks.open_runs():
            self._look_at_accelerator()
            if self._is_ours:
                self._run.finish()
        # The next training looks up the run again.
        self._run = self._given if isinstance(self._given, Run) else None
        self._is_ours = False

    @guarded
    def _look_at_accelerator(self) -> None:
        """Store facts until a model is prepared, which may be later."""
        accelerator = None if self._is_model_known else _find_accelerator()
        if accelerator is None:
            return
        steps = self._opened().steps
        steps.state_facts(_settings(accelerator))
        loaders = accelerator._dataloaders  # noqa: SLF001 - as below
        if len(loaders) == 1 and not steps.has_reported("batch_size"):
            steps.state_facts(loader_facts(loaders[0]))
        self._is_model_known = bool(accelerator._models)  # noqa: SLF001
        for what, facts in _prepared(accelerator).items():
            # Facts set by `describe` take precedence: they may be more exact.
            if not steps.has_reported(f"{what}/class"):
                steps.state_facts({f"{what}/{name}": v for name, v in facts.items()})

    def _opened(self) -> Run:
        if self._run is None:
            opened = process_hooks.open_runs()
            self._run = self._found(opened)
            self._is_ours = self._run not in opened
        return self._run

    def _found(self, opened: list[process_hooks.OpenRun]) -> Run:
        if self._project is not None and not opened:
            return init(project=self._project)
        return run_for(self._given)


def _find_accelerator() -> Accelerator | None:
    """Return the Accelerator that calls its tracker, found on the stack."""
    frame: FrameType | None = sys._getframe()  # noqa: SLF001 - documented
    while frame is not None:
        if frame.f_globals.get("__name__") == _ACCELERATOR:
            caller = frame.f_locals.get("self")
            if isinstance(caller, Accelerator):
                return caller
        frame = frame.f_back
    return None


def _settings(accelerator: Any) -> dict[str, object]:
    settings = {
        "mixed_precision": str(accelerator.mixed_precision),
        "distributed_type": str(accelerator.distributed_type.value),
        "processes": accelerator.num_processes,
        "accumulated_batches": accelerator.gradient_accumulation_steps,
    }
    return {f"accelerate/{name}": value for name, value in settings.items()}


def _prepared(accelerator: Any) -> dict[str, dict[str, object]]:
    """Return facts about the model and the optimizer, if there is one of each.

    With several, it is unknown which one is meant.
    """
    # Accelerate passes these lists to its own hooks for saving.
    models, optimizers = accelerator._models, accelerator._optimizers  # noqa: SLF001
    facts: dict[str, dict[str, object]] = {}
    if len(models) == 1:
        facts["model"] = _model_facts(accelerator, models[0])
    if len(optimizers) == 1:
        facts["optimizer"] = optimizer_facts(optimizers[0])
    if accelerator.scaler is not None:
        facts["grad_scaler"] = scaler_facts(accelerator.scaler)
    return facts


def _model_facts(accelerator: Any, model: Any) -> dict[str, object]:
    """Return facts about a model and its wrappers, which the Accelerator does not keep."""
    facts = model_facts(model)
    dynamo = accelerator.state.dynamo_plugin
    if dynamo.backend.value != "NO":
        facts["compiled"] = True
        facts["compile_backend"] = dynamo.backend.value.lower()
        facts["compile_mode"] = dynamo.mode or "default"
    if not facts["compiled"]:
        # The script may compile it later.
        del facts["compiled"]
    is_multiple = accelerator.distributed_type.value.startswith("MULTI_")
    if is_multiple and not is_spread(model):
        facts.setdefault("wrapper", DDP)
        facts |= _ddp_facts(accelerator.ddp_handler or DistributedDataParallelKwargs())
    return facts


def _ddp_facts(chosen: DistributedDataParallelKwargs) -> dict[str, object]:
    return {
        "ddp_bucket_bytes": chosen.bucket_cap_mb * 2**20,
        "ddp_static_graph": chosen.static_graph,
        "ddp_find_unused_parameters": chosen.find_unused_parameters,
        "ddp_gradient_as_bucket_view": chosen.gradient_as_bucket_view,
    }
